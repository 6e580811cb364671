use super::{InputNeed, NanPolicy, check_len, part_needs};
use crate::error::list;
use crate::{DType, Error, Parts, Tensor, TensorType, View};

/// The element-wise maximum of any number of tensors, broadcast together as numpy does.
///
/// | | |
/// |---|---|
/// | inputs | one or more views, or [`Parts`], of one type, any of the 13, any rank up to [64](crate::View::MAX_RANK); one more operand may be a [`constant`](Max::constant) |
/// | output | same type, the broadcast shape, contiguous |
/// | NaN | by [`NanPolicy`]; comes out as the canonical quiet NaN |
/// | zeros | +0 is greater than -0 (IEEE 754-2019 `maximum`) |
/// | one input | a copy, NaN made canonical |
///
/// As many operands are read by one dispatch as the device has storage bindings, each once; more continue from the
/// output.
///
/// ```
/// # use wgmax::{DType, Max, Operation, Tensor, View};
/// let x = Tensor::new([2, 2], &[-1.0_f32, 2.0, 3.0, -4.0])?;
/// let relu = Max::new(DType::F32, [View::new([2, 2])?]).constant(Tensor::new([], &[0.0_f32])?);
/// assert_eq!(relu.reference(&[&x])?[0].to_vec::<f32>()?, [0.0, 2.0, 3.0, 0.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Max {
    pub(crate) dtype: DType,
    pub(crate) inputs: Vec<Parts>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) constant: Option<Tensor>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) nan: NanPolicy,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) in_place: Option<usize>,
    /// Inputs that are views of others' buffers, each with the other.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) views_of: Vec<(usize, usize)>,
}

impl Max {
    pub(crate) const NAME: &'static str = "Max";

    /// The maximum of these inputs; NaN propagates.
    pub fn new(dtype: DType, inputs: impl IntoIterator<Item = impl Into<Parts>>) -> Max {
        let inputs = inputs.into_iter().map(Into::into).collect();
        Max { dtype, inputs, constant: None, nan: NanPolicy::default(), in_place: None, views_of: vec![] }
    }

    /// One more operand, known now: it travels with the plan and needs no buffer of the caller's. A scalar 0 makes a
    /// ReLU, a tensor of shape `[channels, 1, 1]` a floor for each channel.
    pub fn constant(mut self, constant: Tensor) -> Max {
        self.constant = Some(constant);
        self
    }

    /// What NaN does.
    pub fn nan(mut self, nan: NanPolicy) -> Max {
        self.nan = nan;
        self
    }

    /// Writes over this input: its buffer is given as the output, and what is given as that input is not looked at. The
    /// input must have the output's shape and be contiguous from the start of its buffer.
    pub fn in_place(mut self, input: usize) -> Max {
        self.in_place = Some(input);
        self
    }

    /// Says that an input is another view of the buffer that is given as `other`, or the same view: it is read there, and
    /// what is given as the input is not looked at. In plans with [`Limits::shared_buffers`](crate::Limits::shared_buffers)
    /// inputs that overlap must be such; else they may be.
    pub fn view_of(mut self, input: usize, other: usize) -> Max {
        self.views_of.push((input, other));
        self
    }

    /// For each input the first of the tensors, or slots, that its parts are: they follow one another. A view of another's
    /// buffer is that other's parts; it was checked that it is.
    pub(crate) fn first_slots(&self) -> Vec<usize> {
        let next = |end: &mut usize, input: &Parts| {
            *end += input.views().len();
            Some(*end - input.views().len())
        };
        let mut slots: Vec<usize> = self.inputs.iter().scan(0, next).collect();
        self.views_of.iter().for_each(|&(input, other)| slots[input] = slots[other]);
        slots
    }

    /// What inputs there are, for messages that name another one.
    fn numbering(&self) -> String {
        format!("the operation has {} input(s), numbered from 0", self.inputs.len())
    }

    fn check_views_of(&self) -> Result<(), Error> {
        let [mut are_views, mut before] = [(); 2].map(|()| vec![false; self.inputs.len()]);
        for &(input, _) in &self.views_of {
            are_views.get_mut(input).into_iter().for_each(|is_view| *is_view = true);
        }
        for &(input, other) in &self.views_of {
            let refused = |reason: String| Err(Error::NotAViewOf { input, other, reason });
            let (Some(own), Some(of)) = (self.inputs.get(input), self.inputs.get(other)) else {
                return refused(self.numbering());
            };
            if std::mem::replace(&mut before[input], true) {
                return refused("it was said to be one before".into());
            }
            if are_views[other] {
                return refused("the other has no buffer of its own".into());
            }
            if self.in_place == Some(input) || self.in_place == Some(other) {
                return refused("the output is written there".into());
            }
            if own.views().len() != of.views().len() {
                return refused(format!("it comes in {} parts, the other in {}", own.views().len(), of.views().len()));
            }
        }
        Ok(())
    }

    /// The shape of the output, once everything is known to be right.
    pub(crate) fn checked(&self) -> Result<Vec<u64>, Error> {
        if self.inputs.is_empty() {
            return Err(Error::NoneGiven { what: "inputs" });
        }
        let constant = self.constant.as_ref();
        if let Some(constant) = constant.filter(|constant| constant.dtype() != self.dtype) {
            let tensor = "the constant".into();
            return Err(Error::TypeMismatch { tensor, given: constant.dtype(), expected: self.dtype });
        }
        self.check_views_of()?;
        let shapes = self.inputs.iter().map(Parts::shape).chain(constant.map(Tensor::shape));
        let shape = broadcast_shape(shapes)?;
        if let Some(input) = self.in_place {
            let own = self.inputs.get(input).ok_or(Error::NotInPlace { input, reason: self.numbering() })?;
            if own.shape() != shape {
                let reason = format!("its shape is {}, the output's {}", list(own.shape()), list(&shape));
                return Err(Error::NotInPlace { input, reason });
            }
            let Some(view) = own.only() else {
                let reason = format!("it comes in {} parts", own.views().len());
                return Err(Error::NotInPlace { input, reason });
            };
            if !view.is_empty() && view.without_idle_strides() != View::new(shape.clone())?.without_idle_strides() {
                let (strides, offset) = (view.strides(), view.offset());
                let reason = format!("it is not contiguous from element 0: strides {}, offset {offset}", list(strides));
                return Err(Error::NotInPlace { input, reason });
            }
        }
        Ok(shape)
    }

    pub(crate) fn input_needs(&self) -> Result<Vec<InputNeed>, Error> {
        let own = self.inputs.iter().map(|input| part_needs(self.dtype, input));
        let mut needs = own.collect::<Result<Vec<_>, Error>>()?;
        for &(input, other) in &self.views_of {
            // A wrong one is an error of the outputs.
            if let Ok([own, of]) = needs.get_disjoint_mut([input, other]) {
                for (of, own) in of.iter_mut().zip(own) {
                    if own.elements > of.elements {
                        *of = *own
                    }
                    (own.elements, own.bytes) = (0, 0); // nobody looks at it
                }
            }
        }
        Ok(needs.concat())
    }

    pub(crate) fn output_types(&self) -> Result<Vec<TensorType>, Error> {
        Ok(vec![check_len(TensorType { dtype: self.dtype, shape: self.checked()? })?])
    }
}

/// The shape that all of these are stretched to, as numpy does: dimensions are matched from the last, one of size 1 or
/// a missing one is repeated.
fn broadcast_shape<'a>(shapes: impl Iterator<Item = &'a [u64]>) -> Result<Vec<u64>, Error> {
    let mut common: Vec<u64> = Vec::new();
    for (input, shape) in shapes.enumerate() {
        let mut stretched = vec![1; common.len().max(shape.len())];
        let (from_common, from_shape) = (stretched.len() - common.len(), stretched.len() - shape.len());
        for (d, size) in stretched.iter_mut().enumerate() {
            let ours = if d < from_common { 1 } else { common[d - from_common] };
            let theirs = if d < from_shape { 1 } else { shape[d - from_shape] };
            *size = match (ours, theirs) {
                (1, theirs) => theirs,
                (ours, 1) => ours,
                (ours, theirs) if ours == theirs => ours,
                _ => return Err(Error::ShapesDoNotBroadcast { input, shape: shape.into(), common, dimension: d }),
            };
        }
        common = stretched;
    }
    Ok(common)
}
