//! The CPU's answer, straight from the definitions: element types compared as themselves, indices counted one by one.
//! Nothing here is shared with plans or shaders, so that the two can be held against each other.

mod arg_max;
mod hardmax;
mod max;
mod reduce_max;

pub(crate) use arg_max::arg_max;
pub(crate) use hardmax::hardmax;
pub(crate) use max::max;
pub(crate) use reduce_max::reduce_max;

use std::borrow::Cow;

use crate::element::Element;
use crate::tensor::{ANSWER, room};
use crate::view::checked_len;
use crate::{DType, Error, NanPolicy, Parts, Tensor, View};

/// An input's elements as one view: its parts put together, row-major, where there are several.
fn gathered<'a>(dtype: DType, input: &Parts, tensors: &[&'a Tensor]) -> Result<(View, Cow<'a, [u8]>), Error> {
    if let Some(view) = input.only() {
        return Ok((view.clone(), tensors[0].bytes().into()));
    }
    let whole = View::new(input.shape())?;
    let size = dtype.bytes() as usize;
    let mut bytes = room("bytes of an input in host memory", whole.buffer_bytes(dtype)?)?;
    for (view, tensor) in input.views().iter().zip(tensors) {
        for address in Walk::starts(view, &[]) {
            bytes.extend_from_slice(&tensor.bytes()[address as usize * size..][..size]);
        }
    }
    Ok((whole, bytes.into()))
}

/// The greater of two elements: NaN by policy, +0 above -0.
fn greater<T: Element>(a: T, b: T, nan: NanPolicy) -> T {
    let takes_b = match (a.is_nan(), b.is_nan()) {
        (true, true) => false,
        (true, false) => nan == NanPolicy::Ignore,
        (false, true) => nan == NanPolicy::Propagate,
        (false, false) => b > a || b == a && a.is_negative_zero(),
    };
    if takes_b { b } else { a }
}

/// Whether `b` takes the place of the best so far, `a`, which stands before it: for positions -0 and +0 are equal.
fn takes_over<T: Element>(a: T, b: T, nan: NanPolicy, last_wins: bool) -> bool {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => last_wins && nan == NanPolicy::Propagate,
        (true, false) => nan == NanPolicy::Ignore,
        (false, true) => nan == NanPolicy::Propagate,
        (false, false) => b > a || b == a && last_wins,
    }
}

fn canonical<T: Element>(element: T) -> T {
    match T::NAN {
        Some(nan) if element.is_nan() => nan,
        _ => element,
    }
}

/// The bytes of so many elements.
fn bytes_of<T: Element>(len: u64, elements: impl Iterator<Item = T>) -> Result<Vec<u8>, Error> {
    let mut bytes = room(ANSWER, len.saturating_mul(size_of::<T>() as u64))?;
    let mut own = [0; 8];
    for element in elements {
        element.write(&mut own[..size_of::<T>()]);
        bytes.extend_from_slice(&own[..size_of::<T>()]);
    }
    Ok(bytes)
}

/// The element of a buffer's bytes that has this address.
fn element<T: Element>(bytes: &[u8], address: i64) -> T {
    let at = address as usize * size_of::<T>();
    T::read(&bytes[at..at + size_of::<T>()])
}

/// The addresses along some of a view's dimensions, row-major.
#[derive(Clone)]
struct Walk {
    dimensions: Vec<(u64, i64)>,
    index: Vec<u64>,
    address: i64,
    left: u64,
}

impl Walk {
    /// The address of the first element of each slice along the reduced dimensions, slices in row-major order.
    fn starts(view: &View, reduced: &[usize]) -> Walk {
        let kept: Vec<usize> = (0..view.rank()).filter(|d| !reduced.contains(d)).collect();
        Walk::new(view, &kept, view.offset() as i64)
    }

    /// The distance of each element of a slice from the slice's first, row-major.
    fn along(view: &View, reduced: &[usize]) -> Walk {
        Walk::new(view, reduced, 0)
    }

    fn new(view: &View, dimensions: &[usize], address: i64) -> Walk {
        let dimensions: Vec<_> = dimensions.iter().map(|&d| (view.shape()[d], view.strides()[d])).collect();
        let sizes: Vec<u64> = dimensions.iter().map(|&(size, _)| size).collect();
        let left = checked_len(&sizes).unwrap_or(0); // too many only where another dimension has none
        Walk { index: vec![0; dimensions.len()], dimensions, address, left }
    }
}

impl Iterator for Walk {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        let address = self.address;
        for (&(size, stride), index) in self.dimensions.iter().zip(&mut self.index).rev() {
            // Past the last element, and where there is none at all, an address means nothing: it may wrap.
            *index += 1;
            self.address = self.address.wrapping_add(stride);
            if *index < size {
                break;
            }
            *index = 0;
            self.address = self.address.wrapping_sub(stride.wrapping_mul(size as i64));
        }
        Some(address)
    }
}
