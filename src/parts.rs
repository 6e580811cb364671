use crate::view::checked_len;
use crate::{Error, View};

/// An input: one [`View`], or several that follow one another along their outermost dimension, each in a buffer of its
/// own. That is how a tensor goes on that is larger than a device's largest buffer.
///
/// Every part is an input of the operation, in order. Operations take a view wherever they take parts.
///
/// ```
/// # use wgmax::{ArgMax, DType, Operation, Parts, Tensor, View};
/// let (top, bottom) = (Tensor::new([1, 3], &[1.0_f32, 7.0, 3.0])?, Tensor::new([2, 3], &[4.0_f32, 5.0, 6.0, 9.0, 8.0, 0.0])?);
/// let parts = Parts::new([View::new([1, 3])?, View::new([2, 3])?])?;
/// assert_eq!(parts.shape(), [3, 3]);
/// let op = ArgMax::new(DType::F32, parts).axes([0]);
/// assert_eq!(op.reference(&[&top, &bottom])?[0].to_vec::<i64>()?, [2, 2, 1]);
/// # Ok::<(), wgmax::Error>(())
/// ```
///
/// As serde data it is a list of views, or a view alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    views: Vec<View>,
    shape: Vec<u64>,
}

impl Parts {
    /// One tensor of these parts.
    ///
    /// # Errors
    /// [`Error::NoneGiven`] if there are none; [`Error::PartsDiffer`] if they differ in more than the size of the first
    /// dimension, or have no dimension; [`Error::ViewOutOfRange`] if they have more than 2⁶³ - 1 elements together.
    pub fn new(views: impl Into<Vec<View>>) -> Result<Parts, Error> {
        let views = views.into();
        let Some(first) = views.first() else {
            return Err(Error::NoneGiven { what: "parts" });
        };
        if views.len() == 1 {
            return Ok(first.clone().into());
        }
        let mut shape = first.shape().to_vec();
        for (part, view) in views.iter().enumerate() {
            let own = view.shape();
            if own.is_empty() || own.len() != shape.len() || own[1..] != shape[1..] {
                return Err(Error::PartsDiffer { part, shape: own.to_vec(), expected: first.shape().to_vec() });
            }
        }
        let rows = views.iter().try_fold(0_u64, |rows, view| rows.checked_add(view.shape()[0]));
        shape[0] = rows.unwrap_or(u64::MAX);
        match rows.and(checked_len(&shape)) {
            Some(_) => Ok(Parts { views, shape }),
            None => Err(Error::ViewOutOfRange { strides: first.strides().to_vec(), offset: first.offset(), shape }),
        }
    }

    /// The views, in order.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The size of each dimension of the whole.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Whether a dimension has size 0.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The view, if there is but one.
    pub(crate) fn only(&self) -> Option<&View> {
        if let [view] = &self.views[..] { Some(view) } else { None }
    }
}

impl From<View> for Parts {
    fn from(view: View) -> Parts {
        Parts { shape: view.shape().to_vec(), views: vec![view] }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Parts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.only() {
            Some(view) => view.serialize(serializer),
            None => self.views.serialize(serializer),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Parts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Parts, D::Error> {
        deserializer.deserialize_any(PartsVisitor)
    }
}

/// Tells a list from a view. An untagged enum would do so too, but keep for itself what is wrong with a view.
#[cfg(feature = "serde")]
struct PartsVisitor;

#[cfg(feature = "serde")]
impl<'de> serde::de::Visitor<'de> for PartsVisitor {
    type Value = Parts;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a view, or a list of views")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Parts, A::Error> {
        let view: View = serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(view.into())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, list: A) -> Result<Parts, A::Error> {
        let views: Vec<View> = serde::Deserialize::deserialize(serde::de::value::SeqAccessDeserializer::new(list))?;
        Parts::new(views).map_err(serde::de::Error::custom)
    }
}
