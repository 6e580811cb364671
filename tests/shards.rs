//! Reductions in pieces: any cut, merged in any order and grouping, gives the answer of the whole, bit for bit.

mod common;

use common::reductions::problem;
use common::{Random, cut, first_difference};
use wgmax::shard::{Partial, Partials, Shard, Sharded, merge};
use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, DType, EmptyMax, Error, Hardmax, Max, NanPolicy, Operation, ReduceMax, Slices,
    Tensor, View,
};

/// Merges partials two by two until one is left: those of some shards cover a part of the outputs only, and are merged
/// into those of nothing first.
fn merged_in_any_order(whole: &Sharded, mut known: Vec<Partials>, random: &mut Random) -> Partials {
    while known.len() > 1 {
        let a = known.swap_remove(random.below(known.len() as u64) as usize);
        let b = known.swap_remove(random.below(known.len() as u64) as usize);
        let mut both = whole.nothing().unwrap();
        both.merge(&a).unwrap();
        both.merge(&b).unwrap();
        known.push(both);
    }
    let mut all = whole.nothing().unwrap();
    known.iter().for_each(|partials| all.merge(partials).unwrap());
    all
}

fn check_cut(find: impl Fn(&Shard, &Tensor) -> Partials, random: &mut Random) {
    let (op, input) = problem(random);
    let whole = Sharded::new(op.clone()).unwrap();
    let expected = op.reference(&[&input]).unwrap();
    let pieces = 1 + random.below(8);
    let boxes = cut(&vec![0; input.shape().len()], input.shape(), pieces, random);
    let shards: Vec<Shard> = boxes.iter().map(|(begin, shape)| whole.shard(begin, shape).unwrap()).collect();
    let known = shards.iter().map(|shard| find(shard, &shard.elements(&input).unwrap())).collect();
    let known = merged_in_any_order(&whole, known, random);
    let case = || format!("{op:?}\n{input:?}\n{boxes:?}");
    if !matches!(op, AnyOperation::Hardmax(_)) {
        let difference = first_difference(&expected, &whole.finish(&known).unwrap());
        assert_eq!(difference, None, "{}", case());
        return;
    }
    for shard in &shards {
        let (expected, got) = (shard.elements(&expected[0]).unwrap(), shard.hardmax(&known).unwrap());
        assert_eq!(first_difference(&[expected], &[got]), None, "{shard:?} of {}", case());
    }
}

#[test]
fn any_cut_gives_the_answer_of_the_whole() {
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        check_cut(|shard, elements| shard.reference(elements).unwrap(), &mut random);
    }
}

#[test]
fn merging_is_associative_commutative_and_idempotent() {
    let mut random = Random::new(2);
    for _ in 0..100_000 {
        // Few keys and places: ties of all kinds.
        let [a, b, c] =
            [(); 3].map(|()| Partial { key: random.below(3), place: random.below(2) << 63 | random.below(3) });
        assert_eq!(a.merge(b), b.merge(a));
        assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)));
        assert_eq!(a.merge(a), a);
        assert_eq!(a.merge(Partial::default()), a);
    }
    let mut known = [Partial { key: 1, place: 1 }; 2];
    let error = Error::WrongCount { what: "partials", given: 3, expected: 2 };
    assert_eq!(merge(&mut known, &[Partial::default(); 3]), Err(error));
}

/// Every shard holds the same kinds of elements; the tensor has 2^40 of them, and shards lie on both sides of 2^32.
#[test]
fn positions_beyond_32_bits_and_ties_between_ranks() {
    let zeros = [-0.0_f32, 0.0];
    let nans = [f32::from_bits(0xffc0_0001), f32::from_bits(0x7f80_0001)];
    for (content, values) in [
        ([1.0, 1.0], [1.0; 2]),
        (nans, [f32::NAN; 2]),
        (zeros, [0.0; 2]),
        ([f32::NEG_INFINITY; 2], [f32::NEG_INFINITY; 2]),
        ([f32::NAN, 3.0], [f32::NAN, 3.0]),
    ] {
        for (n, nan) in [NanPolicy::Propagate, NanPolicy::Ignore].into_iter().enumerate() {
            for last in [false, true] {
                let op = ArgMax::new(DType::F32, View::new([1 << 40]).unwrap()).nan(nan).select_last(last);
                let whole = Sharded::new(op.output(ArgMaxOutput::ValuesAndIndices)).unwrap();
                let elements = Tensor::new([2], &content).unwrap();
                let begins = [5, (1 << 32) - 1, (1 << 32) + 7, (1 << 40) - 2];
                let mut known = whole.nothing().unwrap();
                for begin in begins.into_iter().rev() {
                    known.merge(&whole.shard(&[begin], &[2]).unwrap().reference(&elements).unwrap()).unwrap();
                }
                known.merge(&whole.shard(&[77], &[0]).unwrap().partials(&[]).unwrap()).unwrap();
                let (first, second) = match () {
                    () if content[0].is_nan() && content[1] == 3.0 => {
                        (nan == NanPolicy::Ignore, nan == NanPolicy::Ignore)
                    }
                    () => (false, true),
                };
                let only_nans = nan == NanPolicy::Ignore && content.iter().all(|element| element.is_nan());
                let expected = match last {
                    _ if only_nans => 0,
                    false => begins[0] + u64::from(first),
                    true => begins[3] + u64::from(second),
                };
                let answer = whole.finish(&known).unwrap();
                assert_eq!(answer[1].to_vec::<i64>().unwrap(), [expected as i64], "{content:?} {nan:?} last {last}");
                let value = answer[0].to_vec::<f32>().unwrap()[0].to_bits();
                assert_eq!(value, values[n].to_bits(), "{content:?} {nan:?}");
            }
        }
    }
}

/// Callers name any number of shards; what no memory holds is an error value.
#[test]
fn more_shards_than_memory_holds_are_refused() {
    for shape in [vec![2], vec![1 << 40], vec![3, 0]] {
        let whole = Sharded::new(ReduceMax::new(DType::U8, View::new(shape).unwrap()).axes([])).unwrap();
        for count in [usize::MAX, isize::MAX as usize, 1 << 50] {
            assert!(matches!(whole.shards(count), Err(Error::TooLarge { .. })), "{count} of {:?}", whole.shape());
        }
    }
    let scalar = Sharded::new(ReduceMax::new(DType::U8, View::new([]).unwrap())).unwrap();
    assert_eq!(scalar.shards(usize::MAX).unwrap().len(), 1);
}

/// A zero was seen, but no element: of whichever reduction, that is a record of nothing.
#[test]
fn a_record_of_no_element_is_not_finished() {
    let view = || View::new([4]).unwrap();
    let arg_max = || ArgMax::new(DType::F32, view());
    let all: [AnyOperation; 3] =
        [ReduceMax::new(DType::F32, view()).into(), arg_max().into(), arg_max().select_last(true).into()];
    for op in all {
        let whole = Sharded::new(op).unwrap();
        let mut known = whole.nothing().unwrap();
        for key in [0, 1 << 31] {
            known.records_mut()[0] = Partial { key, place: 1 << 63 };
            assert_eq!(whole.finish(&known), Err(Error::PartialsIncomplete { output: 0 }), "{whole:?}");
        }
    }
}

#[test]
fn the_maximum_of_nothing_is_finished_by_policy() {
    let view = View::new([3, 0]).unwrap();
    for (empty, expected) in [(EmptyMax::Least, f32::NEG_INFINITY), (EmptyMax::LowestFinite, f32::MIN)] {
        let whole = Sharded::new(ReduceMax::new(DType::F32, view.clone()).axes([1]).empty(empty)).unwrap();
        let answer = whole.finish(&whole.nothing().unwrap()).unwrap();
        assert_eq!(answer[0].to_vec::<f32>().unwrap(), [expected; 3]);
    }
    let whole = Sharded::new(Hardmax::new(DType::F32, view.clone(), Slices::Along(1))).unwrap();
    let shard = whole.shard(&[1, 0], &[2, 0]).unwrap();
    assert_eq!(shard.hardmax(&whole.nothing().unwrap()).unwrap().shape(), [2, 0]);
    assert!(matches!(Sharded::new(ArgMax::new(DType::F32, view).axes([1])), Err(Error::EmptyReduction { .. })));
}

#[test]
fn shards_of_a_count_cover_the_whole() {
    let mut random = Random::new(3);
    for _ in 0..1000 {
        let rank = random.below(4) as usize;
        let shape: Vec<u64> = (0..rank).map(|_| [0, 1, 2, 7, 100][random.below(5) as usize]).collect();
        let whole = Sharded::new(ReduceMax::new(DType::U8, View::new(shape.clone()).unwrap())).unwrap();
        let count = 1 + random.below(9);
        let shards = whole.shards(count as usize).unwrap();
        let sizes: Vec<u64> = shards.iter().map(|shard| shard.shape().iter().product()).collect();
        assert_eq!(sizes.iter().sum::<u64>(), shape.iter().product::<u64>());
        let rows = shape.iter().find(|&&size| size >= count).or(shape.iter().max()).map_or(1, |&size| size.max(1));
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least <= shape.iter().product::<u64>() / rows, "{shape:?} by {count}: {sizes:?}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let view = View::new([4, 6]).unwrap();
    let error = Sharded::new(Max::new(DType::F32, [view.clone()])).unwrap_err().to_string();
    assert_eq!(error, "Max given, ReduceMax, ArgMax or Hardmax expected");
    let whole = Sharded::new(ArgMax::new(DType::F32, view.clone()).axes([1])).unwrap();
    for (begin, shape) in [(&[0, 3][..], &[4, 4][..]), (&[0], &[4]), (&[5, 0], &[0, 6]), (&[u64::MAX, 1], &[1, 1])] {
        let error = whole.shard(begin, shape).unwrap_err();
        assert!(matches!(error, Error::ShardOutOfRange { .. }), "{error}");
    }
    let shard = whole.shard(&[0, 3], &[4, 3]).unwrap();
    let mut known = whole.nothing().unwrap();
    let error = whole.finish(&known).unwrap_err().to_string();
    assert_eq!(error, "the partial of output 0 is of no element of the tensor: was each shard merged?");
    assert!(matches!(shard.hardmax(&known), Err(Error::NoReduction { .. })));
    assert!(matches!(shard.partials(&[]), Err(Error::WrongCount { .. })));
    let wrong_type = Tensor::new([4, 3], &[0_i32; 12]).unwrap();
    assert!(matches!(shard.reference(&wrong_type), Err(Error::TypeMismatch { .. })));
    assert!(matches!(shard.elements(&wrong_type), Err(Error::TypeMismatch { .. })));
    let short = Tensor::new([3], &[0_f32; 3]).unwrap();
    assert!(matches!(shard.elements(&short), Err(Error::TensorBytes { .. })));
    for wrong in [3, 5] {
        let answer =
            [Tensor::new([wrong], &vec![0_f32; wrong as usize]).unwrap(), Tensor::new([4], &[0_i64; 4]).unwrap()];
        assert!(matches!(shard.partials(&answer), Err(Error::TensorBytes { expected: 16, .. })));
        let integers = [Tensor::new([4], &[0_i32; 4]).unwrap(), Tensor::new([4], &[0_i64; 4]).unwrap()];
        assert!(matches!(shard.partials(&integers), Err(Error::TypeMismatch { .. })));
    }
    // Nothing of a tensor with nothing in it, however long its rows are.
    let empty = Sharded::new(ReduceMax::new(DType::U8, View::new([0, 1 << 32]).unwrap()).axes([1])).unwrap();
    let nothing = empty.shard(&[0, 0], &[0, 1 << 32]).unwrap();
    let none = Tensor::from_bytes(DType::U8, [0, 1 << 32], vec![]).unwrap();
    assert_eq!(nothing.elements(&none).unwrap(), none);
    let others = [
        Sharded::new(ArgMax::new(DType::F32, view.clone()).axes([0])).unwrap(),
        Sharded::new(ArgMax::new(DType::I32, view.clone()).axes([1])).unwrap(),
        Sharded::new(ArgMax::new(DType::F32, view.clone()).axes([1]).select_last(true)).unwrap(),
        Sharded::new(ReduceMax::new(DType::F32, view.clone()).axes([1])).unwrap(),
    ];
    for other in others {
        let before = known.clone();
        let error = known.merge(&other.nothing().unwrap()).unwrap_err();
        assert!(matches!(error, Error::PartialsDiffer { .. }), "{error}");
        assert_eq!(known, before);
        assert!(matches!(other.finish(&known), Err(Error::PartialsDiffer { .. })));
    }
    // A partial from elsewhere: a position beyond the tensor, or a key that no element has.
    let far = Partial { key: 1, place: i64::MAX as u64 - 6 };
    let wide = Partial { key: 1 << 32, place: i64::MAX as u64 };
    for (output, wrong) in [(2, far), (3, wide)] {
        known.records_mut().fill(Partial { key: 1, place: i64::MAX as u64 - 5 });
        assert!(whole.finish(&known).is_ok());
        known.records_mut()[output] = wrong;
        assert_eq!(whole.finish(&known), Err(Error::PartialsIncomplete { output: output as u64 }));
    }
}

#[cfg(feature = "serde")]
#[test]
fn partials_are_data_with_a_version() {
    let whole = Sharded::new(ArgMax::new(DType::F64, View::new([2, 1 << 40]).unwrap()).axes([1])).unwrap();
    let shard = whole.shard(&[1, 1 << 39], &[1, 2]).unwrap();
    let partials = shard.reference(&Tensor::new([1, 2], &[f64::NAN, 1.0]).unwrap()).unwrap();
    let text = serde_json::to_string(&partials).unwrap();
    assert_eq!(serde_json::from_str::<Partials>(&text).unwrap(), partials);
    for (from, to, said) in [
        ("\"version\":1", "\"version\":2", "partials are version 2, version 1 expected"),
        ("\"shape\":[1]", "\"shape\":[3]", "partials are 1 records, those of outputs [3] expected"),
        ("\"shape\":[1]", "\"shape\":[18446744073709551615]", "from [1], a box expected"),
        ("\"begin\":[1]", "\"begin\":[1,2]", "a box expected"),
        ("\"begin\"", "\"start\"", "unknown field"),
    ] {
        assert!(text.contains(from), "{text}");
        let error = serde_json::from_str::<Partials>(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[cfg(feature = "gpu")]
mod on_gpus {
    use super::*;
    use common::gpus;
    use wgmax::Gpu;

    #[test]
    fn any_cut_gives_the_answer_of_the_whole_on_a_device() {
        let mut random = Random::new(4);
        for n in 0..40 {
            let gpu = &gpus()[n % 2];
            check_cut(|shard, elements| gpu.run_shard_blocking(shard, elements).unwrap(), &mut random);
        }
    }

    /// Also where there are many outputs, or many shards, some of which know nothing.
    #[test]
    fn partials_are_merged_on_a_device() {
        let mut random = Random::new(9);
        for n in 0..60 {
            let (op, input) = problem(&mut random);
            let whole = Sharded::new(op.clone()).unwrap();
            let count = [1, 2, 3, 40, 300][random.below(5) as usize];
            let mut partials = Vec::new();
            for shard in whole.shards(count).unwrap() {
                let mut all = whole.nothing().unwrap();
                all.merge(&shard.reference(&shard.elements(&input).unwrap()).unwrap()).unwrap();
                partials.extend_from_slice(all.to_tensor().unwrap().bytes());
            }
            let tensor = Tensor::from_bytes(DType::U64, [partials.len() as u64 / 8], partials).unwrap();
            let merged = whole.merge_shards(count as u64).unwrap();
            let expected = merged.reference(&[&tensor]).unwrap();
            if !matches!(op, AnyOperation::Hardmax(_)) {
                assert_eq!(first_difference(&op.reference(&[&input]).unwrap(), &expected), None, "{op:?}");
            }
            common::check_on(&gpus()[n % 2], &merged, &[&tensor], &expected, &format!("{count} shards of {op:?}"));
        }
    }

    /// A whole without elements has the maximum of nothing, and shards of no outputs, however many, take no time.
    #[test]
    fn shards_of_nothing() {
        for (dtype, empty) in
            [(DType::F32, EmptyMax::LowestFinite), (DType::F32, EmptyMax::Least), (DType::I8, EmptyMax::Least)]
        {
            let whole = ReduceMax::new(dtype, View::new([3, 0]).unwrap()).axes([1]).empty(empty);
            let expected = whole.reference(&[&Tensor::from_bytes(dtype, [0], vec![]).unwrap()]).unwrap();
            let merged = Sharded::new(whole).unwrap().merge_shards(2).unwrap();
            let nothing = Tensor::new([2 * 3 * 2], &[0_u64; 12]).unwrap();
            assert_eq!(merged.reference(&[&nothing]).unwrap(), expected);
            common::check_on(&gpus()[0], &merged, &[&nothing], &expected, &format!("{dtype}, {empty:?}"));
        }
        let no_outputs = ReduceMax::new(DType::F32, View::new([0, 3]).unwrap()).axes([1]);
        let merged = Sharded::new(no_outputs).unwrap().merge_shards(u64::MAX).unwrap();
        assert_eq!(merged.reference(&[&Tensor::new([0], &[0_u64; 0]).unwrap()]).unwrap()[0].shape(), [0]);
    }

    #[test]
    fn too_many_partials_are_named() {
        let view = View::new([1 << 20, 2]).unwrap();
        let whole = Sharded::new(ReduceMax::new(DType::F32, view).axes([1])).unwrap();
        let merged = whole.merge_shards(9).unwrap();
        let error = merged.plan(&wgmax::Limits::default()).unwrap_err().to_string();
        assert_eq!(error, "bytes of partials: 150994944 given, at most 134217728 possible");
        assert_eq!(whole.merge_shards(0).unwrap_err().to_string(), "0 shards given, at least 1 expected");
        let error = whole.merge_shards(u64::MAX).unwrap().inputs().unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }

    #[test]
    fn several_devices_give_the_answer_of_one() {
        let mut random = Random::new(5);
        for n in 1..12 {
            let (op, input) = problem(&mut random);
            let devices: Vec<&Gpu> = gpus().iter().cycle().take(1 + n % 4).collect();
            let got = Gpu::run_on_many_blocking(&devices, op.clone(), &input).unwrap();
            let expected = op.reference(&[&input]).unwrap();
            assert_eq!(first_difference(&expected, &got), None, "{op:?} on {} devices", devices.len());
        }
        let (op, input) = problem(&mut random);
        let error = Gpu::run_on_many_blocking(&[], op.clone(), &input).unwrap_err().to_string();
        assert_eq!(error, "0 devices given, at least 1 expected");
        let other = Tensor::new([1], &[1_u8]).unwrap();
        assert!(Gpu::run_on_many_blocking(&[&gpus()[0]], op, &other).is_err());
    }
}
