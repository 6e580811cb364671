use super::{Walk, bytes_of, canonical, element, gathered, greater, takes_over};
use crate::element::{Element, with_element_type};
use crate::tensor::{ANSWER, room};
use crate::{ArgMax, ArgMaxOutput, Error, IndexType, NanPolicy, Tensor, View};

pub(crate) fn arg_max(op: &ArgMax, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
    let (view, input) = gathered(op.dtype, &op.input, inputs)?;
    let reduced = op.checked()?;
    let types = op.output_types()?;
    let len = types[0].len();
    let (values, positions) = with_element_type!(op.dtype, T => {
        let (values, positions) = found::<T>(op, &view, &input, &reduced, len)?;
        (bytes_of(len, values.into_iter())?, positions.into_iter())
    });
    let indices = match op.index {
        IndexType::I64 => bytes_of(len, positions.map(|i| i as i64))?,
        IndexType::I32 => bytes_of(len, positions.map(|i| i as i32))?,
        IndexType::U32 => bytes_of(len, positions.map(|i| i as u32))?,
    };
    let bytes = match op.output {
        ArgMaxOutput::Indices => vec![indices],
        ArgMaxOutput::ValuesAndIndices => vec![values, indices],
    };
    types.into_iter().zip(bytes).map(|(t, bytes)| Tensor::from_bytes(t.dtype, t.shape, bytes)).collect()
}

type Found<T> = (Vec<T>, Vec<u64>);

fn found<T: Element>(op: &ArgMax, view: &View, bytes: &[u8], reduced: &[usize], len: u64) -> Result<Found<T>, Error> {
    let offsets = Walk::along(view, reduced);
    let (mut values, mut positions): Found<T> = (room(ANSWER, len)?, room(ANSWER, len)?);
    for start in Walk::starts(view, reduced) {
        let slice = offsets.clone().map(|offset| element::<T>(bytes, start + offset));
        // A slice without elements has no answer: then there are no outputs either.
        if let Some((position, value)) = first_maximum(slice, op.nan, op.select_last) {
            positions.push(position);
            values.push(value);
        }
    }
    Ok((values, positions))
}

/// The position and the value of a slice's first maximum, or last.
pub(super) fn first_maximum<T: Element>(
    slice: impl Iterator<Item = T>,
    nan: NanPolicy,
    last_wins: bool,
) -> Option<(u64, T)> {
    let mut slice = (0_u64..).zip(slice);
    let (mut position, mut best) = slice.next()?;
    let mut value = best;
    for (i, element) in slice {
        if takes_over(best, element, nan, last_wins) {
            (position, best) = (i, element);
        }
        value = greater(value, element, nan);
    }
    let only_nans = nan == NanPolicy::Ignore && value.is_nan();
    Some((if only_nans { 0 } else { position }, canonical(value)))
}
