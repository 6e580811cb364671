//! ONNX's default domain, `ai.onnx`.
//!
//! Each struct is a node of one operator; a field that is `None` is an attribute or an optional input that the node does
//! not have. `resolve` takes the operator set that the model imports, finds the version in force there, and applies that
//! version's types, attributes and defaults. An operator set newer than this crate means the newest version it knows.
//!
//! | operator | versions |
//! |---|---|
//! | [`ReduceMax`] | 1, 11, 12, 13, 18, 20 |
//! | [`ArgMax`] | 1, 11, 12, 13 |
//! | [`Hardmax`] | 1, 11, 13 |
//! | [`Max`] | 1, 6, 8, 12, 13 |

use std::fmt;

use super::{AxesInput, check_type};
use crate::DType::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use crate::axes::resolve_axis;
use crate::{Axes, DType, Error, Slices, Tensor, View, op};

/// One version of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The operator.
    pub operator: &'static str,
    /// The operator set that brought it.
    pub since: u64,
    /// The element types that it allows.
    pub types: &'static [DType],
    /// The attributes that it has.
    pub attributes: &'static [&'static str],
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ONNX {}-{}", self.operator, self.since)
    }
}

impl Version {
    /// The last of these versions that is not newer than the operator set.
    fn in_force(versions: &'static [Version], opset: u64) -> Result<&'static Version, Error> {
        let Version { operator, since: first, .. } = versions[0];
        versions.iter().rev().find(|v| v.since <= opset).ok_or(Error::UnknownOpset { operator, opset, first })
    }

    fn check_attribute(&self, attribute: &str, given: bool) -> Result<(), Error> {
        if !given || self.attributes.contains(&attribute) {
            return Ok(());
        }
        let (operator, attribute) = (self.to_string(), attribute.into());
        Err(Error::AttributeNotAllowed { operator, attribute, allowed: self.attributes })
    }

    /// Versions before 11 count axes from the first dimension only, to the last one or to the rank.
    fn check_axes(&self, axes: &[i64], rank: usize, last: usize) -> Result<(), Error> {
        let expected = 0..=last as i64;
        match axes.iter().find(|axis| !expected.contains(axis)) {
            Some(&axis) if self.since < 11 && axis < 0 => Err(Error::NegativeAxis { operator: self.to_string(), axis }),
            Some(&axis) if self.since < 11 && rank > 0 => Err(Error::AxisOutOfRange { axis, rank, expected }),
            _ => Ok(()),
        }
    }
}

/// The versions of an operator, oldest first.
const fn versions<const N: usize>(
    operator: &'static str,
    rows: [(u64, &'static [DType], &'static [&'static str]); N],
) -> [Version; N] {
    let mut versions = [Version { operator, since: 0, types: &[], attributes: &[] }; N];
    let mut n = 0;
    while n < N {
        (versions[n].since, versions[n].types, versions[n].attributes) = rows[n];
        n += 1;
    }
    versions
}

const FLOATS: &[DType] = &[F16, F32, F64];
const FLOATS_13: &[DType] = &[F16, F32, F64, Bf16];
const NUMBERS: &[DType] = &[F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64];
const NUMBERS_13: &[DType] = &[F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bf16];

const REDUCE: &[DType] = &[U32, U64, I32, I64, F16, F32, F64];
const REDUCE_12: &[DType] = &[U32, U64, I32, I64, F16, F32, F64, I8, U8];
const REDUCE_13: &[DType] = &[U32, U64, I32, I64, F16, F32, F64, I8, U8, Bf16];
const REDUCE_20: &[DType] = &[U32, U64, I32, I64, F16, F32, F64, I8, U8, Bf16, Bool];

/// ONNX's `ReduceMax`.
///
/// | version | types | axes | no axes, or an empty list |
/// |---|---|---|---|
/// | 1 | u32 u64 i32 i64 f16 f32 f64 | attribute, none negative | all |
/// | 11 | | attribute | all |
/// | 12 | and i8 u8 | attribute | all |
/// | 13 | and bf16 | attribute | all |
/// | 18 | | input | all; with `noop_with_empty_axes` none: the input, NaN made canonical |
/// | 20 | and bool | input | as 18 |
///
/// The maximum of no elements is negative infinity, the type's minimum or `false`, in every version.
///
/// ```
/// # use wgmax::dialect::onnx;
/// # use wgmax::{DType, Operation, View};
/// let node = onnx::ReduceMax { axes: Some(vec![1]), ..Default::default() };
/// let op = node.resolve(15, DType::F32, View::new([2, 3])?)?; // operator set 15 means ReduceMax-13
/// assert_eq!(op.outputs()?[0].shape, [2, 1]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReduceMax {
    /// The attribute `axes`, until version 13.
    pub axes: Option<Vec<i64>>,
    /// The optional input `axes`, from version 18: one dimension of i64.
    pub axes_input: Option<Tensor>,
    /// Whether the reduced dimensions stay, with size 1. The default is `true`.
    pub keepdims: Option<bool>,
    /// From version 18: whether no axes, or an empty list, mean none instead of all. The default is `false`.
    pub noop_with_empty_axes: Option<bool>,
}

impl ReduceMax {
    /// Every version, oldest first.
    pub const VERSIONS: &[Version] = &versions(
        "ReduceMax",
        [
            (1, REDUCE, &["axes", "keepdims"]),
            (11, REDUCE, &["axes", "keepdims"]),
            (12, REDUCE_12, &["axes", "keepdims"]),
            (13, REDUCE_13, &["axes", "keepdims"]),
            (18, REDUCE_13, &["keepdims", "noop_with_empty_axes"]),
            (20, REDUCE_20, &["keepdims", "noop_with_empty_axes"]),
        ],
    );

    /// The operation for an input of this type and layout.
    ///
    /// # Errors
    /// [`Error::UnknownOpset`], [`Error::TypeNotAllowed`], [`Error::AttributeNotAllowed`], [`Error::AxesForm`],
    /// [`Error::NegativeAxis`], [`Error::AxisOutOfRange`]. What else is wrong with axes is found with the operation.
    pub fn resolve(&self, opset: u64, dtype: DType, input: View) -> Result<op::ReduceMax, Error> {
        let version = Version::in_force(Self::VERSIONS, opset)?;
        check_type(version, dtype, version.types)?;
        version.check_attribute("noop_with_empty_axes", self.noop_with_empty_axes.is_some())?;
        let axes = match self.listed_axes(version)? {
            Some(axes) if !axes.is_empty() => {
                version.check_axes(&axes, input.rank(), input.rank().saturating_sub(1))?;
                Axes::List(axes)
            }
            _ if self.noop_with_empty_axes == Some(true) => Axes::List(vec![]),
            _ => Axes::All,
        };
        Ok(op::ReduceMax::new(dtype, input).axes(axes).keep_dims(self.keepdims.unwrap_or(true)))
    }

    fn listed_axes(&self, version: &Version) -> Result<Option<Vec<i64>>, Error> {
        const INPUT: AxesInput =
            AxesInput { types: &[I64], scalar: false, expected: "an optional second input, one dimension of i64" };
        let refuse = |given: &str, expected| {
            Err(Error::AxesForm { operator: version.to_string(), given: given.into(), expected })
        };
        match (&self.axes, &self.axes_input) {
            (Some(_), _) if version.since >= 18 => refuse("an attribute", INPUT.expected),
            (_, Some(_)) if version.since < 18 => refuse("a second input", "an optional attribute"),
            (Some(axes), _) => Ok(Some(axes.clone())),
            (None, Some(axes)) => INPUT.read(version, axes).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// ONNX's `ArgMax`: i64 indices along one axis.
///
/// | version | types | axis | `select_last_index` |
/// |---|---|---|---|
/// | 1 | every number but bf16 | not negative | no |
/// | 11 | | from `-rank` to `rank - 1` | no |
/// | 12 | | | yes |
/// | 13 | and bf16 | | yes |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgMax {
    /// The axis. The default is 0.
    pub axis: Option<i64>,
    /// Whether the reduced dimension stays, with size 1. The default is `true`.
    pub keepdims: Option<bool>,
    /// From version 12: whether the last of equal maxima wins. The default is `false`.
    pub select_last_index: Option<bool>,
}

impl ArgMax {
    /// Every version, oldest first.
    pub const VERSIONS: &[Version] = &versions(
        "ArgMax",
        [
            (1, NUMBERS, &["axis", "keepdims"]),
            (11, NUMBERS, &["axis", "keepdims"]),
            (12, NUMBERS, &["axis", "keepdims", "select_last_index"]),
            (13, NUMBERS_13, &["axis", "keepdims", "select_last_index"]),
        ],
    );

    /// The operation for an input of this type and layout.
    ///
    /// # Errors
    /// [`Error::UnknownOpset`], [`Error::TypeNotAllowed`], [`Error::AttributeNotAllowed`], [`Error::NegativeAxis`]. What
    /// the axis names is checked with the operation.
    pub fn resolve(&self, opset: u64, dtype: DType, input: View) -> Result<op::ArgMax, Error> {
        let version = Version::in_force(Self::VERSIONS, opset)?;
        check_type(version, dtype, version.types)?;
        version.check_attribute("select_last_index", self.select_last_index.is_some())?;
        let axis = self.axis.unwrap_or(0);
        version.check_axes(&[axis], input.rank(), input.rank().saturating_sub(1))?;
        Ok(op::ArgMax::new(dtype, input)
            .axes([axis])
            .keep_dims(self.keepdims.unwrap_or(true))
            .select_last(self.select_last_index.unwrap_or(false)))
    }
}

/// ONNX's `Hardmax`.
///
/// | version | types | `axis` | meaning |
/// |---|---|---|---|
/// | 1 | f16 f32 f64 | default 1, from 0 to `rank` | the axis and all after it are one row |
/// | 11 | | default 1, from `-rank` to `rank - 1` | the same |
/// | 13 | and bf16 | default -1, from `-rank` to `rank - 1` | along the axis |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardmax {
    /// The axis.
    pub axis: Option<i64>,
}

impl Hardmax {
    /// Every version, oldest first.
    pub const VERSIONS: &[Version] =
        &versions("Hardmax", [(1, FLOATS, &["axis"]), (11, FLOATS, &["axis"]), (13, FLOATS_13, &["axis"])]);

    /// The operation for an input of this type and layout.
    ///
    /// # Errors
    /// [`Error::UnknownOpset`], [`Error::TypeNotAllowed`], [`Error::NegativeAxis`]; [`Error::AxisOutOfRange`] for the
    /// rank itself in version 11. What else the axis names is checked with the operation.
    pub fn resolve(&self, opset: u64, dtype: DType, input: View) -> Result<op::Hardmax, Error> {
        let version = Version::in_force(Self::VERSIONS, opset)?;
        check_type(version, dtype, version.types)?;
        let axis = self.axis.unwrap_or(if version.since < 13 { 1 } else { -1 });
        let rank = input.rank();
        version.check_axes(&[axis], rank, rank)?;
        if version.since == 11 {
            resolve_axis("Hardmax", axis, rank)?; // the rank itself is allowed before
        }
        let slices = if version.since < 13 { Slices::From(axis) } else { Slices::Along(axis) };
        Ok(op::Hardmax::new(dtype, input, slices))
    }
}

/// ONNX's `Max` of one or more inputs.
///
/// | version | types | shapes |
/// |---|---|---|
/// | 1 | f16 f32 f64 | all equal |
/// | 6 | | all equal |
/// | 8 | | broadcast together as numpy does |
/// | 12 | and all integers | |
/// | 13 | and bf16 | |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Max {
    /// In version 1: a hint on memory that has no meaning any more, ignored.
    pub consumed_inputs: Option<Vec<i64>>,
}

impl Max {
    /// Every version, oldest first.
    pub const VERSIONS: &[Version] = &versions(
        "Max",
        [
            (1, FLOATS, &["consumed_inputs"]),
            (6, FLOATS, &[]),
            (8, FLOATS, &[]),
            (12, NUMBERS, &[]),
            (13, NUMBERS_13, &[]),
        ],
    );

    /// The operation for inputs of this type and these layouts.
    ///
    /// # Errors
    /// [`Error::UnknownOpset`], [`Error::TypeNotAllowed`], [`Error::AttributeNotAllowed`], [`Error::ShapesDiffer`].
    /// Whether shapes broadcast, and that there are any, is checked with the operation.
    pub fn resolve(&self, opset: u64, dtype: DType, inputs: impl Into<Vec<View>>) -> Result<op::Max, Error> {
        let version = Version::in_force(Self::VERSIONS, opset)?;
        check_type(version, dtype, version.types)?;
        version.check_attribute("consumed_inputs", self.consumed_inputs.is_some())?;
        let inputs = inputs.into();
        if version.since < 8 {
            check_equal_shapes(version, &inputs)?;
        }
        Ok(op::Max::new(dtype, inputs))
    }
}

fn check_equal_shapes(version: &Version, inputs: &[View]) -> Result<(), Error> {
    match inputs.iter().enumerate().find(|(_, view)| view.shape() != inputs[0].shape()) {
        None => Ok(()),
        Some((input, view)) => Err(Error::ShapesDiffer {
            operator: version.to_string(),
            input,
            shape: view.shape().to_vec(),
            expected: inputs[0].shape().to_vec(),
        }),
    }
}
