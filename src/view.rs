use crate::error::{list, within};
use crate::{DType, Error};

/// How a tensor lies in its buffer: shape, strides and offset, all in elements.
///
/// Strides may be zero (a broadcast dimension) or negative (a reversed one); the offset is the element at index 0 of
/// every dimension. Operations read views as they are: nothing is copied or transposed.
///
/// ```
/// # use wgmax::View;
/// // An image of 480 × 640 pixels with 3 interleaved channels, seen as 8 × 8 blocks: axes 1 and 3 lie within a block.
/// let image = View::new([480, 640, 3])?;
/// let blocks = image.split(0, [60, 8])?.split(2, [80, 8])?;
/// assert_eq!(blocks.shape(), [60, 8, 80, 8, 3]);
/// assert_eq!(blocks.strides(), [15360, 1920, 24, 3, 1]);
/// # Ok::<(), wgmax::Error>(())
/// ```
///
/// As serde data it has the fields `shape`, `strides` and `offset`; the strides of a contiguous tensor and an offset of 0
/// may be left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "UncheckedView"))]
pub struct View {
    shape: Vec<u64>,
    strides: Vec<i64>,
    offset: u64,
}

impl View {
    /// The most dimensions that a view or a tensor may have; numpy and PyTorch draw the line there, too.
    pub const MAX_RANK: usize = 64;

    /// A contiguous row-major tensor at the start of its buffer.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than [`View::MAX_RANK`] dimensions; [`Error::ViewOutOfRange`] if the shape has more
    /// than 2⁶³ - 1 elements.
    pub fn new(shape: impl Into<Vec<u64>>) -> Result<View, Error> {
        let shape = shape.into();
        check_rank(shape.len())?;
        let mut strides = vec![0; shape.len()];
        let mut stride = Some(1_i64);
        let empty = shape.contains(&0); // its strides are never used
        for (own, &size) in strides.iter_mut().zip(&shape).rev().filter(|_| !empty) {
            *own = stride.unwrap_or(0);
            stride = stride.zip(i64::try_from(size).ok()).and_then(|(a, b)| a.checked_mul(b));
        }
        match stride {
            Some(_) => View::strided(shape, strides, 0),
            None => Err(Error::ViewOutOfRange { shape, strides, offset: 0 }),
        }
    }

    /// Any layout: strides and offset in elements.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than [`View::MAX_RANK`] dimensions; [`Error::StrideCount`] if there are more or fewer
    /// strides than dimensions; [`Error::ViewOutOfRange`] if an element would lie before the first of the buffer or past
    /// element 2⁶³ - 1, or the elements cannot be counted in 63 bits.
    pub fn strided(shape: impl Into<Vec<u64>>, strides: impl Into<Vec<i64>>, offset: u64) -> Result<View, Error> {
        let view = View { shape: shape.into(), strides: strides.into(), offset };
        check_rank(view.rank())?;
        if view.shape.len() != view.strides.len() {
            return Err(Error::StrideCount { shape: view.shape.len(), strides: view.strides.len() });
        }
        match view.checked_extent() {
            Some(_) => Ok(view),
            None => Err(Error::ViewOutOfRange { shape: view.shape, strides: view.strides, offset }),
        }
    }

    /// The same view with strides of 0 where a dimension has one index, whose stride means nothing.
    pub(crate) fn without_idle_strides(&self) -> View {
        let stride = |(&size, &stride): (&u64, &i64)| if size == 1 { 0 } else { stride };
        let strides = self.shape.iter().zip(&self.strides).map(stride).collect();
        View { shape: self.shape.clone(), strides, offset: self.offset }
    }

    /// The size of each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The distance between neighbours along each dimension, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The element at index 0 of every dimension.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements, a broadcast one counted as often as it is seen.
    pub fn len(&self) -> u64 {
        checked_len(&self.shape).unwrap_or(0) // checked when the view was made
    }

    /// Whether a dimension has size 0.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The bytes that a buffer needs so that every element of the view lies in it, a multiple of 4.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if no 64-bit number counts them.
    pub fn buffer_bytes(&self, dtype: DType) -> Result<u64, Error> {
        let elements = self.buffer_elements();
        crate::dtype::padded_bytes(dtype, elements).ok_or(Error::TooLarge {
            what: "elements that a view spans",
            given: elements,
            limit: (u64::MAX - 3) / dtype.bytes(),
        })
    }

    /// The elements that a buffer needs so that every element of the view lies in it.
    pub(crate) fn buffer_elements(&self) -> u64 {
        if self.is_empty() { 0 } else { self.extent().1 + 1 }
    }

    /// The lowest and the highest element that the view touches, if it is not empty.
    pub(crate) fn extent(&self) -> (u64, u64) {
        self.checked_extent().unwrap_or((self.offset, self.offset)) // checked when the view was made
    }

    fn checked_extent(&self) -> Option<(u64, u64)> {
        let mut low = i64::try_from(self.offset).ok()?;
        let mut high = low;
        if self.is_empty() {
            return Some((self.offset, self.offset));
        }
        let mut len = 1_i64;
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let size = i64::try_from(size).ok()?;
            len = len.checked_mul(size)?;
            let reach = stride.checked_mul(size - 1)?;
            low = low.checked_add(reach.min(0))?;
            high = high.checked_add(reach.max(0))?;
        }
        Some((u64::try_from(low).ok()?, high.unsigned_abs()))
    }

    fn dimension(&self, axis: usize, change: impl Fn() -> String) -> Result<(u64, i64), Error> {
        match (self.shape.get(axis), self.strides.get(axis)) {
            (Some(&size), Some(&stride)) => Ok((size, stride)),
            _ => Err(self.refuse(change())),
        }
    }

    fn refuse(&self, change: String) -> Error {
        Error::ViewChange { change, shape: self.shape.clone() }
    }

    /// The same elements with dimension `order[i]` as dimension `i`: a transpose.
    ///
    /// # Errors
    /// [`Error::ViewChange`] if `order` is not a permutation of the dimensions.
    pub fn permute(&self, order: &[usize]) -> Result<View, Error> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.rank()) {
            return Err(self.refuse(format!("permute by {}", list(order))));
        }
        Ok(View {
            shape: order.iter().map(|&d| self.shape[d]).collect(),
            strides: order.iter().map(|&d| self.strides[d]).collect(),
            offset: self.offset,
        })
    }

    /// Every `step`-th element from `begin` on, `len` of them, along `axis`.
    ///
    /// # Errors
    /// [`Error::ViewChange`] if the axis does not exist, the step is 0, or the last of them lies outside.
    pub fn slice(&self, axis: usize, begin: u64, len: u64, step: u64) -> Result<View, Error> {
        let change = || format!("take {len} elements from {begin} on, {step} apart, along axis {axis} of");
        let (size, stride) = self.dimension(axis, change)?;
        let last = len.saturating_sub(1).checked_mul(step).and_then(|reach| reach.checked_add(begin));
        let inside = if len == 0 { begin <= size } else { last.is_some_and(|last| last < size) };
        if step == 0 || !inside {
            return Err(self.refuse(change()));
        }
        let mut view = self.clone();
        view.shape[axis] = len;
        if len > 0 && !self.is_empty() {
            // Both stay within the extent that was checked when this view was made.
            view.offset = self.offset.wrapping_add_signed(stride.wrapping_mul(begin as i64));
            view.strides[axis] = if len == 1 { stride } else { stride.wrapping_mul(step as i64) };
        }
        Ok(view)
    }

    /// The last element along `axis` first.
    ///
    /// # Errors
    /// [`Error::ViewChange`] if the axis does not exist.
    pub fn reverse(&self, axis: usize) -> Result<View, Error> {
        let (size, stride) = self.dimension(axis, || format!("reverse axis {axis} of"))?;
        let mut view = self.clone();
        if !self.is_empty() {
            view.offset = self.offset.wrapping_add_signed(stride * (size as i64 - 1)); // the other end of the extent
            view.strides[axis] = stride.checked_neg().ok_or_else(|| self.refuse(format!("reverse axis {axis} of")))?;
        }
        Ok(view)
    }

    /// The view stretched to a shape as numpy does: dimensions are matched from the last, one of size 1 or a missing
    /// one is repeated.
    ///
    /// # Errors
    /// [`Error::ViewChange`] if another dimension differs, or the shape has more than 2⁶³ - 1 elements;
    /// [`Error::TooLarge`] if it has more than [`View::MAX_RANK`] dimensions.
    pub fn broadcast(&self, shape: &[u64]) -> Result<View, Error> {
        check_rank(shape.len())?;
        let refuse = || self.refuse(format!("broadcast to {}", list(shape)));
        let missing = shape.len().checked_sub(self.rank()).ok_or_else(refuse)?;
        let mut strides = vec![0; shape.len()];
        for (i, (&size, &stride)) in self.shape.iter().zip(&self.strides).enumerate() {
            match (size, shape[missing + i]) {
                (own, wanted) if own == wanted => strides[missing + i] = stride,
                (1, _) => {}
                _ => return Err(refuse()),
            }
        }
        View::strided(shape, strides, self.offset).map_err(|_| refuse())
    }

    /// Dimension `axis` as several, outermost first; their sizes multiply to its size.
    ///
    /// # Errors
    /// [`Error::ViewChange`] if the axis does not exist or the sizes do not multiply to its size; [`Error::TooLarge`] if
    /// the view then has more than [`View::MAX_RANK`] dimensions.
    pub fn split(&self, axis: usize, sizes: impl AsRef<[u64]>) -> Result<View, Error> {
        let sizes = sizes.as_ref();
        let change = || format!("split axis {axis} into {} of", list(sizes));
        let (size, stride) = self.dimension(axis, change)?;
        check_rank((self.rank() - 1).saturating_add(sizes.len()))?;
        // A 0 makes the product 0, also where the others' alone would be too large.
        let factors = if sizes.contains(&0) { &[0][..] } else { sizes };
        let product = factors.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
        if product != Some(size) {
            return Err(self.refuse(change()));
        }
        let mut strides = vec![0; sizes.len()];
        let mut own = stride;
        for (slot, &size) in strides.iter_mut().zip(sizes).rev() {
            *slot = own;
            own = own.wrapping_mul(size as i64); // the last product is not used
        }
        let mut view = self.clone();
        view.shape.splice(axis..=axis, sizes.iter().copied());
        view.strides.splice(axis..=axis, strides);
        Ok(view)
    }
}

/// What is done for each dimension, some of it for each pair of them, stays little work whatever is given.
pub(crate) fn check_rank(rank: usize) -> Result<(), Error> {
    within("dimensions of a tensor", rank as u64, View::MAX_RANK as u64)
}

/// The number of elements of a shape, if 63 bits count them.
pub(crate) fn checked_len(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    let len = shape.iter().try_fold(1_u64, |len, &size| len.checked_mul(size))?;
    (len <= i64::MAX as u64).then_some(len)
}

/// What a [`View`] is read from.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedView {
    shape: Vec<u64>,
    strides: Option<Vec<i64>>,
    #[serde(default)]
    offset: u64,
}

#[cfg(feature = "serde")]
impl TryFrom<UncheckedView> for View {
    type Error = Error;

    fn try_from(unchecked: UncheckedView) -> Result<View, Error> {
        let UncheckedView { shape, strides, offset } = unchecked;
        let strides = match strides {
            Some(strides) => strides,
            None => View::new(shape.clone())?.strides,
        };
        View::strided(shape, strides, offset)
    }
}
