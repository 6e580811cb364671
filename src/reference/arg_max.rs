use super::{Elements, canonical, greater, takes_over};
use crate::element::{Element, to_bytes, with_element_type};
use crate::{ArgMax, ArgMaxOutput, Error, IndexType, NanPolicy, Operation, Tensor, View};

pub(crate) fn arg_max(op: &ArgMax, view: &View, input: &[u8]) -> Result<Vec<Tensor>, Error> {
    let reduced = op.checked()?;
    let types = op.outputs()?;
    let (values, positions) = with_element_type!(op.dtype, T => found::<T>(op, view, input, &reduced));
    let indices = match op.index {
        IndexType::I64 => to_bytes(&positions.iter().map(|&i| i as i64).collect::<Vec<_>>()),
        IndexType::I32 => to_bytes(&positions.iter().map(|&i| i as i32).collect::<Vec<_>>()),
        IndexType::U32 => to_bytes(&positions.iter().map(|&i| i as u32).collect::<Vec<_>>()),
    };
    let bytes = match op.output {
        ArgMaxOutput::Indices => vec![indices],
        ArgMaxOutput::ValuesAndIndices => vec![values, indices],
    };
    types.into_iter().zip(bytes).map(|(t, bytes)| Tensor::from_bytes(t.dtype, t.shape, bytes)).collect()
}

fn found<T: Element>(op: &ArgMax, view: &View, bytes: &[u8], reduced: &[usize]) -> (Vec<u8>, Vec<usize>) {
    let elements = Elements { bytes, view };
    let offsets = elements.slice_offsets(reduced);
    let find = |start: i64| {
        let slice = offsets.clone().map(|offset| elements.get::<T>(start + offset));
        first_maximum(slice, op.nan, op.select_last)
    };
    // A slice without elements has no answer: then there are no outputs either.
    let (positions, values): (Vec<usize>, Vec<T>) = elements.slice_starts(reduced).filter_map(find).unzip();
    (to_bytes(&values), positions)
}

/// The position and the value of a slice's first maximum, or last.
pub(super) fn first_maximum<T: Element>(
    slice: impl Iterator<Item = T>,
    nan: NanPolicy,
    last_wins: bool,
) -> Option<(usize, T)> {
    let mut slice = slice.enumerate();
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
