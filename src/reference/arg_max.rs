use super::{Elements, canonical, greater, takes_over, to_bytes};
use crate::element::{Element, with_element_type};
use crate::{ArgMax, ArgMaxOutput, Error, IndexType, NanPolicy, Operation, Tensor};

pub(crate) fn arg_max(op: &ArgMax, input: &[u8]) -> Result<Vec<Tensor>, Error> {
    let reduced = op.checked()?;
    let types = op.outputs()?;
    let (values, positions) = with_element_type!(op.dtype, T => found::<T>(op, input, &reduced));
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

fn found<T: Element>(op: &ArgMax, bytes: &[u8], reduced: &[usize]) -> (Vec<u8>, Vec<usize>) {
    let elements = Elements { bytes, view: &op.input };
    let offsets = elements.slice_offsets(reduced);
    let mut values = Vec::new();
    let mut positions = Vec::new();
    for start in elements.slice_starts(reduced) {
        let mut slice = offsets.clone().map(|offset| elements.get::<T>(start + offset)).enumerate();
        let Some((mut position, mut best)) = slice.next() else {
            continue; // then there are no outputs either
        };
        let mut value = best;
        for (i, element) in slice {
            if takes_over(best, element, op.nan, op.select_last) {
                (position, best) = (i, element);
            }
            value = greater(value, element, op.nan);
        }
        let only_nans = op.nan == NanPolicy::Ignore && value.is_nan();
        positions.push(if only_nans { 0 } else { position });
        values.push(canonical(value));
    }
    (to_bytes(&values), positions)
}
