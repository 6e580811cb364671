//! Small reductions of any kind, for those who do them in pieces.

use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, Axes, DType, Hardmax, IndexType, NanPolicy, ReduceMax, Slices, Tensor, View,
};

use super::{Data, Random, tensor};

/// A small tensor of a type and a shape.
pub fn small_tensor(random: &mut Random, dtype: DType, shape: &[u64]) -> Tensor {
    let data = Data::ALL[random.below(Data::ALL.len() as u64) as usize];
    let flat = tensor(dtype, shape.iter().product(), data, random.word());
    Tensor::from_bytes(dtype, shape, flat.bytes().to_vec()).unwrap()
}

/// A reduction of any kind, and a tensor for it.
pub fn problem(random: &mut Random) -> (AnyOperation, Tensor) {
    let dtype = DType::ALL[random.below(13) as usize];
    let rank = 1 + random.below(4) as usize;
    let shape: Vec<u64> = (0..rank).map(|_| [1, 2, 3, 5, 8][random.below(5) as usize]).collect();
    let nan = [NanPolicy::Propagate, NanPolicy::Ignore][random.below(2) as usize];
    let axes: Vec<i64> = (0..rank as i64).filter(|_| random.below(2) == 0).collect();
    let axes = if random.below(4) == 0 { Axes::All } else { Axes::List(axes) };
    let view = View::new(shape.clone()).unwrap();
    let [keep, last, both] = [(); 3].map(|()| random.below(2) == 0);
    let op = match random.below(4) {
        0 => ReduceMax::new(dtype, view).axes(axes).keep_dims(keep).nan(nan).into(),
        1 if last => Hardmax::new(dtype, view, Slices::Along(random.below(rank as u64) as i64)).nan(nan).into(),
        1 => Hardmax::new(dtype, view, Slices::From(random.below(rank as u64 + 1) as i64)).nan(nan).into(),
        _ => {
            let index = [IndexType::I64, IndexType::I32, IndexType::U32][random.below(3) as usize];
            let output = if both { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
            let op = ArgMax::new(dtype, view).axes(axes).keep_dims(keep).nan(nan);
            op.select_last(last).index(index).output(output).into()
        }
    };
    let input = small_tensor(random, dtype, &shape);
    (op, input)
}
