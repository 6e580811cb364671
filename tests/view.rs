//! Views and axes by themselves: no GPU, no plan.

use wgmax::{ArgMax, Axes, DType, Error, Hardmax, Max, Operation, Parts, ReduceMax, Slices, View};

fn view(shape: &[u64]) -> View {
    View::new(shape).unwrap()
}

fn strided(shape: &[u64], strides: &[i64], offset: u64) -> Result<View, Error> {
    View::strided(shape, strides, offset)
}

/// Shape, strides and offset.
fn parts(view: &View) -> (&[u64], &[i64], u64) {
    (view.shape(), view.strides(), view.offset())
}

/// Sizes of which one is 0 multiply to 0, however large the others are and in whichever order.
#[test]
fn a_size_of_0_is_split_into_any_sizes_with_a_0() {
    let nothing = View::new([0]).unwrap();
    for sizes in [[1 << 40, 1 << 40, 0], [1 << 40, 0, 1 << 40], [0, 1 << 40, 1 << 40], [u64::MAX, u64::MAX, 0]] {
        assert_eq!(nothing.split(0, sizes).unwrap().shape(), sizes);
    }
}

#[test]
fn a_new_view_is_row_major() {
    assert_eq!(parts(&view(&[])), (&[][..], &[][..], 0));
    assert_eq!(parts(&view(&[2, 3, 4])), (&[2, 3, 4][..], &[12, 4, 1][..], 0));
    assert_eq!(parts(&view(&[2, 1, 4])), (&[2, 1, 4][..], &[4, 4, 1][..], 0));
    assert_eq!(parts(&view(&[2, 0, 4])), (&[2, 0, 4][..], &[0, 0, 0][..], 0));
    assert_eq!(view(&[u64::MAX, 0, 7]).len(), 0);
    assert_eq!(view(&[1 << 62, 1]).len(), 1 << 62);
    assert_eq!(view(&[i64::MAX as u64]).len(), i64::MAX as u64);
    for shape in [&[1 << 63][..], &[1 << 32, 1 << 31], &[u64::MAX, 1], &[2, 1 << 62]] {
        assert!(matches!(View::new(shape), Err(Error::ViewOutOfRange { .. })), "{shape:?}");
    }
}

#[test]
fn lengths_and_ranks() {
    assert_eq!((view(&[]).len(), view(&[]).rank(), view(&[]).is_empty()), (1, 0, false));
    assert_eq!((view(&[2, 3]).len(), view(&[2, 3]).rank(), view(&[2, 3]).is_empty()), (6, 2, false));
    assert_eq!((view(&[2, 0]).len(), view(&[2, 0]).is_empty()), (0, true));
    assert_eq!(strided(&[5, 7], &[0, 0], 3).unwrap().len(), 35);
}

/// The first and the last element that is touched, whatever the strides' signs are.
#[test]
fn a_view_stays_within_the_elements_that_can_be_counted() {
    assert_eq!(strided(&[2, 3], &[1], 0), Err(Error::StrideCount { shape: 2, strides: 1 }));
    assert!(strided(&[3], &[-1], 2).is_ok());
    assert!(matches!(strided(&[3], &[-1], 1), Err(Error::ViewOutOfRange { .. })));
    let half = View::new([1 << 63, 0]).unwrap(); // of which two have more rows than 64 bits count
    assert!(matches!(Parts::new([half.clone(), half]), Err(Error::ViewOutOfRange { .. })));
    assert!(strided(&[3, 2], &[-1, 5], 2).is_ok());
    assert!(matches!(strided(&[3, 2], &[-1, -5], 6), Err(Error::ViewOutOfRange { .. })));
    assert!(strided(&[3, 2], &[-1, -5], 7).is_ok());
    let last = i64::MAX as u64;
    assert!(strided(&[], &[], last).is_ok());
    assert!(strided(&[2], &[1], last - 1).is_ok());
    assert!(matches!(strided(&[2], &[1], last), Err(Error::ViewOutOfRange { .. })));
    assert!(matches!(strided(&[], &[], last + 1), Err(Error::ViewOutOfRange { .. })));
    assert!(matches!(strided(&[3], &[i64::MAX], 0), Err(Error::ViewOutOfRange { .. })));
    assert!(strided(&[1], &[i64::MIN], 0).is_ok());
    // An empty view touches nothing.
    assert!(strided(&[0, 9], &[i64::MIN, i64::MAX], 5).is_ok());
}

#[test]
fn bytes_up_to_the_last_element_in_whole_words() {
    for (view, dtype, bytes) in [
        (view(&[3]), DType::U8, 4),
        (view(&[4]), DType::U8, 4),
        (view(&[5]), DType::F16, 12),
        (view(&[2, 3]), DType::I64, 48),
        (view(&[0, 3]), DType::I64, 0),
        (strided(&[3], &[-2], 9).unwrap(), DType::F32, 40),
        (strided(&[3], &[2], 9).unwrap(), DType::F32, 56),
        (strided(&[0], &[2], 9).unwrap(), DType::F32, 0),
        (strided(&[9], &[0], 1).unwrap(), DType::F32, 8),
    ] {
        assert_eq!(view.buffer_bytes(dtype), Ok(bytes), "{view:?} {dtype}");
    }
    let far = strided(&[1], &[1], 1 << 62).unwrap();
    let (what, given) = ("elements that a view spans", (1 << 62) + 1);
    let limit = (u64::MAX - 3) / 4;
    assert_eq!(far.buffer_bytes(DType::F32), Err(Error::TooLarge { what, given, limit }));
    let limit = (u64::MAX - 3) / 8;
    assert_eq!(far.buffer_bytes(DType::F64), Err(Error::TooLarge { what, given, limit }));
}

#[test]
fn permuted() {
    let own = view(&[2, 3, 4]).slice(2, 1, 2, 2).unwrap();
    assert_eq!(parts(&own.permute(&[2, 0, 1]).unwrap()), (&[2, 2, 3][..], &[2, 12, 4][..], 1));
    for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2]] {
        let error = own.permute(order).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot permute by {order:?} a view of shape [2, 3, 2]"));
    }
}

#[test]
fn sliced() {
    let own = view(&[4, 10]);
    assert_eq!(parts(&own.slice(1, 2, 4, 2).unwrap()), (&[4, 4][..], &[10, 2][..], 2));
    assert_eq!(parts(&own.slice(0, 3, 1, 7).unwrap()), (&[1, 10][..], &[10, 1][..], 30));
    assert_eq!(parts(&own.slice(1, 0, 10, 1).unwrap()), (&[4, 10][..], &[10, 1][..], 0));
    assert_eq!(parts(&own.slice(1, 1, 3, 4).unwrap()), (&[4, 3][..], &[10, 4][..], 1));
    assert_eq!(own.slice(1, 10, 0, 1).unwrap().shape(), [4, 0]);
    assert_eq!(own.slice(1, 10, 0, 1).unwrap().offset(), 0);
    let empty = view(&[0, 10]).slice(1, 3, 2, 2).unwrap();
    assert_eq!((empty.shape(), empty.offset()), (&[0, 2][..], 0));
    for (axis, begin, len, step) in
        [(2, 0, 1, 1), (1, 0, 1, 0), (1, 10, 1, 1), (1, 11, 0, 1), (1, 0, 11, 1), (1, 2, 4, 3), (1, 1, 2, u64::MAX)]
    {
        let error = own.slice(axis, begin, len, step).unwrap_err();
        let expected = format!(
            "cannot take {len} elements from {begin} on, {step} apart, along axis {axis} of a view of shape [4, 10]"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn reversed() {
    let own = view(&[4, 10]);
    assert_eq!(parts(&own.reverse(0).unwrap()), (&[4, 10][..], &[-10, 1][..], 30));
    assert_eq!(own.reverse(1).unwrap().reverse(1).unwrap(), own);
    assert_eq!(view(&[0, 3]).reverse(1).unwrap(), view(&[0, 3]));
    let message = own.reverse(2).unwrap_err().to_string();
    assert_eq!(message, "cannot reverse axis 2 of a view of shape [4, 10]");
    let least = strided(&[1], &[i64::MIN], 0).unwrap();
    assert_eq!(least.reverse(0).unwrap_err().to_string(), "cannot reverse axis 0 of a view of shape [1]");
}

#[test]
fn broadcast() {
    let own = view(&[3, 1]);
    assert_eq!(parts(&own.broadcast(&[2, 3, 5]).unwrap()), (&[2, 3, 5][..], &[0, 1, 0][..], 0));
    assert_eq!(own.broadcast(&[3, 1]).unwrap(), own);
    assert_eq!(view(&[]).broadcast(&[7]).unwrap().strides(), [0]);
    for shape in [&[3][..], &[2, 5], &[3, 1, 1], &[1 << 62, 3, 1], &[]] {
        let error = own.broadcast(shape).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot broadcast to {shape:?} a view of shape [3, 1]"));
    }
}

#[test]
fn split() {
    let own = strided(&[2, 12], &[100, 3], 5).unwrap();
    assert_eq!(parts(&own.split(1, [2, 3, 2]).unwrap()), (&[2, 2, 3, 2][..], &[100, 18, 6, 3][..], 5));
    assert_eq!(parts(&own.split(1, [12]).unwrap()), parts(&own));
    for (axis, sizes) in [(1, &[2, 5][..]), (1, &[]), (2, &[1]), (1, &[1 << 63, 1 << 63, 12])] {
        let error = own.split(axis, sizes).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot split axis {axis} into {sizes:?} of a view of shape [2, 12]"));
    }
    assert_eq!(view(&[1]).split(0, []).unwrap().rank(), 0);
}

/// Whatever makes a view or a tensor, it has 64 dimensions at most.
#[test]
fn dimensions_are_bounded() {
    let most = View::MAX_RANK;
    let whole = view(&vec![1; most]);
    let made = |rank: usize| {
        let ones = vec![1_u64; rank];
        [
            View::new(ones.clone()),
            strided(&ones, &vec![0; rank], 0),
            whole.split(0, &ones[..rank + 1 - most]),
            view(&[]).broadcast(&ones),
            wgmax::Tensor::new(ones.clone(), &[1_u8]).and_then(|tensor| View::new(tensor.shape())),
            #[cfg(feature = "serde")]
            serde_json::from_str(&format!(r#"{{"shape": {ones:?}}}"#)).map_err(|error| {
                let given = rank as u64;
                let expected = Error::TooLarge { what: "dimensions of a tensor", given, limit: most as u64 };
                assert!(error.to_string().starts_with(&expected.to_string()), "{error}");
                expected
            }),
        ]
    };
    for view in made(most) {
        assert_eq!(view.unwrap().rank(), most);
    }
    for rank in [most + 1, most + 7, 100_000] {
        for error in made(rank).map(Result::unwrap_err) {
            assert_eq!(error.to_string(), format!("dimensions of a tensor: {rank} given, at most 64 possible"));
        }
    }
    assert!(whole.split(0, []).unwrap().split(0, [1, 1]).is_ok());
    // So the most that there are make an operation.
    let scalar = wgmax::Tensor::new(vec![1; most], &[7_u8]).unwrap();
    let op = Max::new(DType::U8, [whole, view(&[])]);
    assert_eq!(op.reference(&[&scalar, &scalar]).unwrap(), [scalar]);
}

#[test]
fn axes_in_every_form() {
    let resolve = |axes: Axes| axes.resolve("test", 3);
    assert_eq!(resolve(Axes::All), Ok(vec![0, 1, 2]));
    assert_eq!(resolve([].into()), Ok(vec![]));
    assert_eq!(resolve([2, 0].into()), Ok(vec![0, 2]));
    assert_eq!(resolve(vec![-1, -3].into()), Ok(vec![0, 2]));
    assert_eq!(resolve([1_i64, 0].as_slice().into()), Ok(vec![0, 1]));
    assert_eq!(resolve([1, -2].into()), Err(Error::RepeatedAxis { axes: vec![1, -2], dimension: 1 }));
    for axis in [3, -4, i64::MAX, i64::MIN] {
        assert_eq!(resolve([axis].into()), Err(Error::AxisOutOfRange { axis, rank: 3, expected: -3..=2 }));
    }
    assert_eq!(Axes::from([0]).resolve("test", 0), Err(Error::NoAxis { operator: "test" }));
    assert_eq!(Axes::All.resolve("test", 0), Ok(vec![]));
    assert_eq!(Axes::from([]).resolve("test", 0), Ok(vec![]));
}

/// What the fuzz targets found: each once panicked, wrapped, or went on without end.
#[test]
fn what_was_found_by_fuzzing() {
    use wgmax::{Limits, Tensor};
    // A Hardmax over nothing walked the positions of slices that are not there.
    let nothing = Tensor::new::<f32>([0], &[]).unwrap();
    let op = Hardmax::new(DType::F32, view(&[1 << 61, 0]), Slices::Along(0));
    assert_eq!(op.reference(&[&nothing]).unwrap()[0].shape(), [1 << 61, 0]);
    // The reference's addresses overflowed past the last element, and where there are none.
    let one = Tensor::new([1], &[1.0_f32]).unwrap();
    let op = ReduceMax::new(DType::F32, strided(&[1, 1], &[i64::MAX, i64::MIN], 0).unwrap()).axes([0]);
    assert_eq!(op.reference(&[&one]).unwrap()[0].to_vec::<f32>().unwrap(), [1.0]);
    let op = ReduceMax::new(DType::F32, strided(&[5, 0], &[i64::MAX, 1], 0).unwrap()).axes([1]);
    assert_eq!(op.reference(&[&nothing]).unwrap()[0].shape(), [5]);
    // The bytes of Hardmax's winners overflowed for a device without limits.
    let limits = Limits { max_binding_bytes: u64::MAX, ..Limits::default() };
    let wide = strided(&[1, 1 << 62], &[0, 0], 0).unwrap();
    for slices in [Slices::Along(0), Slices::From(2)] {
        let error = Hardmax::new(DType::U8, wide.clone(), slices).plan(&limits).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    }
    // A fill was planned for a device without storage bindings.
    let none = Limits { max_storage_bindings: 0, ..Limits::default() };
    let error = ReduceMax::new(DType::F32, view(&[2, 0])).axes([1]).plan(&none).unwrap_err();
    assert_eq!(error.to_string(), "the device's limit max_storage_buffers_per_shader_stage is 0, at least 1 is needed");
    assert!(ArgMax::new(DType::F32, view(&[2, 3])).plan(&none).is_err());
    // The offsets of an operand's bindings overflowed where its bytes are more than can be counted; and a Hardmax that reads
    // nothing of such an input is planned.
    let far = strided(&[3, 1], &[1 << 61, 1], 0).unwrap();
    let limits = Limits { max_binding_bytes: 1 << 16, ..Limits::default() };
    let error = Max::new(DType::F64, [far.clone()]).plan(&limits).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    let plan = Hardmax::new(DType::F64, far, Slices::Along(1)).plan(&limits).unwrap();
    assert_eq!(plan.input_bytes, [0]);
}
