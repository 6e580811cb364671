//! A row-major tensor as one chunk after another.

use crate::shard::Sharded;

/// Boxes of consecutive elements that make up a tensor, in order: indices along one axis, whole in those behind it, one in
/// those before it. All have as many elements but the last one along the axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chunks {
    shape: Vec<u64>,
    /// The dimension that is cut.
    pub axis: usize,
    /// Indices along it of a chunk, at most.
    indices: u64,
    /// Chunks along it.
    along: u64,
    /// Elements of one index along it.
    inner: u64,
    count: u64,
}

impl Chunks {
    /// Chunks of so many bytes at most, but of one element at least.
    pub fn new(whole: &Sharded, chunk_bytes: u64) -> Chunks {
        let shape = whole.shape().to_vec();
        let most = (chunk_bytes / whole.dtype().bytes()).max(1);
        let inner = |d: usize| shape[d + 1..].iter().fold(1_u64, |all, &size| all.saturating_mul(size));
        let axis = (0..shape.len()).find(|&d| inner(d) <= most).unwrap_or(0);
        if shape.is_empty() || shape.contains(&0) {
            let count = u64::from(shape.is_empty());
            return Chunks { shape, axis, indices: 1, along: 1, inner: count, count };
        }
        let (size, inner) = (shape[axis], inner(axis));
        let indices = size.div_ceil(size.div_ceil((most / inner).max(1)));
        let along = size.div_ceil(indices);
        let outer: u64 = shape[..axis].iter().product(); // no more than there are elements
        Chunks { axis, indices, along, inner, count: outer * along, shape }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Elements of all chunks along the axis.
    fn row(&self) -> u64 {
        self.shape.get(self.axis).map_or(1, |&size| size.saturating_mul(self.inner))
    }

    /// The first index of a chunk, and its shape.
    pub fn chunk(&self, n: u64) -> (Vec<u64>, Vec<u64>) {
        if self.shape.is_empty() {
            return (vec![], vec![]);
        }
        let (mut begin, mut shape) = (vec![0; self.shape.len()], self.shape.clone());
        begin[self.axis] = n % self.along * self.indices;
        shape[self.axis] = self.indices.min(self.shape[self.axis] - begin[self.axis]);
        let mut rest = n / self.along;
        for d in (0..self.axis).rev() {
            (begin[d], shape[d]) = (rest % self.shape[d], 1);
            rest /= self.shape[d];
        }
        (begin, shape)
    }

    /// Elements before a chunk.
    pub fn elements_before(&self, n: u64) -> u64 {
        n / self.along * self.row() + n % self.along * self.indices * self.inner
    }

    /// The chunk that an element is in; the count of chunks for the one behind the last.
    pub fn chunk_at(&self, element: u64) -> Option<u64> {
        let row = self.row();
        let along = element.checked_rem(row).unwrap_or(0) / (self.indices * self.inner).max(1);
        let n = element.checked_div(row).unwrap_or(0).checked_mul(self.along)?.checked_add(along)?;
        (n <= self.count).then_some(n)
    }

    /// Whether a chunk is the last one along the axis.
    pub fn is_last_along(&self, n: u64) -> bool {
        n % self.along == self.along - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, ReduceMax, View};

    /// No product of sizes is more than 64 bits count where there are no elements.
    #[test]
    fn nothing_has_no_chunks() {
        for shape in [[0, 1 << 60, 1 << 20], [1 << 60, 0, 1 << 20], [1 << 40, 1 << 60, 0]] {
            let whole = Sharded::new(ReduceMax::new(DType::F32, View::new(shape).unwrap())).unwrap();
            for bytes in [0, 4 << 20, u64::MAX] {
                let chunks = Chunks::new(&whole, bytes);
                assert_eq!((chunks.count(), chunks.elements_before(0), chunks.chunk_at(0)), (0, 0, Some(0)));
            }
        }
    }

    /// Every element is in one chunk, in order; no chunk is too large, and few are much smaller than the others.
    #[test]
    fn chunks_follow_one_another() {
        let sizes = [0_u64, 1, 2, 3, 7, 64];
        for n in 0..6_usize.pow(4) {
            let shape: Vec<u64> = (0..4).map(|d| sizes[n / 6_usize.pow(d) % 6]).skip(n % 5).collect();
            let whole = Sharded::new(ReduceMax::new(DType::F16, View::new(shape.clone()).unwrap())).unwrap();
            let len: u64 = shape.iter().product();
            for bytes in [0, 2, 7, 100, 1000, 1 << 30] {
                let chunks = Chunks::new(&whole, bytes);
                let mut end = 0;
                for c in 0..chunks.count() {
                    let (begin, own) = chunks.chunk(c);
                    let first = begin.iter().zip(&shape).fold(0, |all, (begin, size)| all * size + begin);
                    assert_eq!((first, chunks.elements_before(c)), (end, end), "{shape:?} by {bytes}: {begin:?}");
                    let elements = own.iter().product::<u64>();
                    assert!(elements * 2 <= bytes.max(2), "{shape:?} by {bytes}: {own:?}");
                    assert!(elements > 0);
                    assert_eq!(chunks.chunk_at(end), Some(c));
                    end += elements;
                }
                assert_eq!(end, len, "{shape:?} by {bytes}");
                assert!(chunks.count() <= 1 + len * 2 / (bytes / 2).max(1), "{shape:?} by {bytes}: {chunks:?}");
            }
        }
    }
}
