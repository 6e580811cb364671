//! Streams: any sizes of chunks and pieces give the answer of the whole, bit for bit, also when a stream fails midway and
//! goes on elsewhere.
//!
//! `WGMAX_CASES` says how many random chunkings are tried (300 otherwise).

mod common;

use std::io::{self, Read, Write};

use common::reductions::{problem, small_tensor};
use common::{Random, first_difference, gpus, tensor};
use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, DType, Error, Gpu, Hardmax, IndexType, Max, NanPolicy, Operation, Progress,
    ReduceMax, SavedStream, Slices, Stream, Tensor, View,
};

/// Pushes a tensor's bytes from there on in pieces of any size, up to some byte.
fn push(stream: &mut Stream<'_>, bytes: &[u8], end: usize, random: &mut Random) {
    let most = [1, 9, 100, 10_000][random.below(4) as usize];
    let mut at = stream.taken_bytes() as usize;
    if random.below(4) == 0 {
        return stream.extend_blocking(bytes[at..end].chunks(most as usize)).unwrap();
    }
    while at < end {
        let next = end.min(at + random.below(most + 1) as usize);
        stream.push_blocking(&bytes[at..next]).unwrap();
        at = next;
    }
}

/// A stream that is saved now and then, and goes on from there, perhaps on another device; its outputs are collected or
/// written.
fn streamed(op: &AnyOperation, input: &Tensor, chunk_bytes: u64, random: &mut Random) -> Vec<Vec<u8>> {
    let outputs = op.outputs().unwrap().len();
    let (bytes, writes) = (input.bytes(), random.below(2) == 0);
    let mut files: Vec<Vec<u8>> = vec![vec![]; outputs];
    let mut saved: Option<SavedStream> = None;
    loop {
        let gpu: &Gpu = &gpus()[random.below(2) as usize];
        if let Some(saved) = &saved {
            // What was written after the last chunk that counts is written again.
            let written = saved.written_bytes();
            files.iter_mut().zip(written).for_each(|(file, len)| file.truncate(len as usize));
        }
        let mut stream = match saved.take() {
            None => Stream::new_blocking(gpu, op.clone(), chunk_bytes).unwrap(),
            Some(saved) => Stream::resume_blocking(gpu, op.clone(), saved).unwrap(),
        };
        if writes {
            stream = stream.outputs_to(files.iter_mut().map(|file| file as &mut dyn Write).collect()).unwrap();
        }
        if random.below(4) == 0 {
            let end = stream.taken_bytes() + random.below(bytes.len() as u64 - stream.taken_bytes() + 1);
            push(&mut stream, bytes, end as usize, random);
            if random.below(2) == 0 {
                stream.flush_blocking().unwrap();
            }
            saved = Some(stream.save());
            #[cfg(feature = "serde")]
            {
                let text = serde_json::to_string(&saved).unwrap();
                saved = serde_json::from_str(&text).unwrap();
            }
            continue;
        }
        push(&mut stream, bytes, bytes.len(), random);
        let tensors = stream.finish_blocking().unwrap();
        return if writes { files } else { tensors.iter().map(|tensor| tensor.bytes().to_vec()).collect() };
    }
}

fn check_stream(op: &AnyOperation, input: &Tensor, chunk_bytes: u64, random: &mut Random) {
    let kinds = op.outputs().unwrap().into_iter();
    let got = kinds.zip(streamed(op, input, chunk_bytes, random));
    let got: Vec<Tensor> =
        got.map(|(kind, bytes)| Tensor::from_bytes(kind.dtype, kind.shape, bytes).unwrap()).collect();
    let expected = op.reference(&[input]).unwrap();
    assert_eq!(first_difference(&expected, &got), None, "{op:?} in chunks of {chunk_bytes}\n{input:?}");
}

#[test]
fn any_chunking_gives_the_answer_of_the_whole() {
    let cases: u64 = std::env::var("WGMAX_CASES").map_or(300, |cases| cases.parse().unwrap());
    let mut random = Random::new(6);
    for _ in 0..cases.div_ceil(10) {
        let (op, input) = problem(&mut random);
        for _ in 0..10 {
            let chunk_bytes = [1, 8, 33, 200, 100_000][random.below(5) as usize] + random.below(8);
            check_stream(&op, &input, chunk_bytes, &mut random);
        }
    }
}

/// Several chunks are in flight, with maxima at both ends and around every chunk's edges.
#[test]
fn maxima_at_the_edges_of_chunks() {
    let mut random = Random::new(7);
    let (len, chunk) = (3 * 70_001_u64, 70_001);
    let zeros = tensor(DType::I16, len, common::Data::Zeros, 1);
    for at in [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk - 1, 2 * chunk, len - 2, len - 1] {
        let input = common::with_bits(&zeros, at, 5);
        let op = ArgMax::new(DType::I16, View::new([len]).unwrap()).output(ArgMaxOutput::ValuesAndIndices);
        check_stream(&op.into(), &input, 2 * chunk, &mut random);
        let op = Hardmax::new(DType::I16, View::new([3, chunk]).unwrap(), Slices::Along(1));
        let input = Tensor::from_bytes(DType::I16, [3, chunk], input.bytes().to_vec()).unwrap();
        check_stream(&op.into(), &input, 50_000, &mut random);
        let op = ReduceMax::new(DType::I16, View::new([3, chunk]).unwrap()).axes([0]);
        check_stream(&op.into(), &input, 50_000, &mut random);
    }
}

/// A state may come from anywhere: here from a stream that would have read 8 GiB.
#[cfg(feature = "serde")]
#[test]
fn positions_beyond_32_bits() {
    let len = (1 << 33) + 1000;
    let op = ArgMax::new(DType::U8, View::new([len]).unwrap()).output(ArgMaxOutput::ValuesAndIndices);
    for (last, known_wins) in [(false, true), (true, false)] {
        let op = op.clone().select_last(last);
        let mut stream = Stream::new_blocking(&gpus()[0], op.clone(), 1 << 20).unwrap();
        let size = len.div_ceil(len.div_ceil(1 << 20)); // chunks are of one size
        let mut chunk = vec![0; size as usize];
        chunk[77] = 9;
        stream.push_blocking(&chunk).unwrap();
        stream.flush_blocking().unwrap();
        assert_eq!(stream.merged_bytes(), size);
        let merged = (len - 1) / size * size;
        let text = serde_json::to_string(&stream.save()).unwrap();
        let text = text.replace(&format!("\"merged_bytes\":{size},"), &format!("\"merged_bytes\":{merged},"));
        let mut stream = Stream::resume_blocking(&gpus()[1], op, serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(stream.taken_bytes(), merged);
        let mut rest = vec![0; (len - merged) as usize];
        rest[5] = 9;
        stream.push_blocking(&rest).unwrap();
        let answer = stream.finish_blocking().unwrap();
        let expected = if known_wins { 77 } else { merged as i64 + 5 };
        assert!(merged > 1 << 32);
        assert_eq!(answer[1].to_vec::<i64>().unwrap(), [expected]);
        assert_eq!(answer[0].to_vec::<u8>().unwrap(), [9]);
    }
}

/// Fails once after so many bytes.
struct Failing<'a>(&'a [u8], usize);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1 == 0 {
            self.1 = usize::MAX;
            return Err(io::Error::other("the disk is gone"));
        }
        let most = buffer.len().min(self.1).min(777);
        let read = (&self.0[..most.min(self.0.len())]).read(buffer)?;
        self.0 = &self.0[read..];
        self.1 -= read.min(self.1);
        Ok(read)
    }
}

#[test]
fn a_source_that_fails_loses_nothing() {
    let input = tensor(DType::F32, 100_000, common::Data::Edges, 3);
    let op = ArgMax::new(DType::F32, View::new([4, 25_000]).unwrap()).axes([1]);
    let mut source = Failing(input.bytes(), 250_001);
    let mut stream = Stream::new_blocking(&gpus()[0], op.clone(), 10_000).unwrap();
    let error = stream.read_from_blocking(&mut source).unwrap_err();
    let said = "reading failed after byte 250001 of the tensor: the disk is gone";
    assert_eq!((error.to_string().as_str(), stream.taken_bytes()), (said, 250_001));
    assert_eq!(stream.read_from_blocking(&mut source).unwrap(), 149_999);
    assert_eq!(first_difference(&op.reference(&[&input]).unwrap(), &stream.finish_blocking().unwrap()), None);
}

/// A device that is lost midway: each call says so, and the rest is done on another one.
#[test]
fn a_lost_device_loses_no_more_than_what_was_on_its_way() {
    let input = tensor(DType::F16, 200_000, common::Data::Edges, 4);
    let op = ReduceMax::new(DType::F16, View::new([2, 100_000]).unwrap()).axes([1]);
    let doomed = Gpu::new_blocking(&wgmax::GpuOptions::default()).unwrap();
    let mut stream = Stream::new_blocking(&doomed, op.clone(), 20_000).unwrap();
    stream.push_blocking(&input.bytes()[..250_000]).unwrap();
    let merged = stream.merged_bytes();
    assert!((100_000..250_000).contains(&merged), "{merged}");
    doomed.device().destroy();
    let error = stream.push_blocking(&input.bytes()[250_000..]).unwrap_err();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
    assert_eq!(stream.push_blocking(&[0]), Err(error.clone()));
    let saved = stream.save();
    assert_eq!(saved.merged_bytes(), stream.merged_bytes());
    assert_eq!(stream.finish_blocking(), Err(error));
    let mut stream = Stream::resume_blocking(&gpus()[0], op.clone(), saved).unwrap();
    let rest = stream.taken_bytes() as usize;
    assert!(rest as u64 >= merged);
    stream.push_blocking(&input.bytes()[rest..]).unwrap();
    assert_eq!(first_difference(&op.reference(&[&input]).unwrap(), &stream.finish_blocking().unwrap()), None);
}

struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => self.0 = left,
            None => return Err(io::Error::other("the disk is full")),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_is_named() {
    let input = tensor(DType::U8, 90_000, common::Data::Random, 5);
    let op = ReduceMax::new(DType::U8, View::new([30_000, 3]).unwrap()).axes([1]);
    let mut full = Full(15_000);
    let stream = Stream::new_blocking(&gpus()[0], op, 9000).unwrap();
    let mut stream = stream.outputs_to(vec![&mut full]).unwrap();
    let error = stream.push_blocking(input.bytes()).unwrap_err();
    assert_eq!(error.to_string(), "writing failed after byte 15000 of output 0: the disk is full");
    assert_eq!((stream.save().merged_bytes(), stream.save().written_bytes()), (45_000, vec![15_000]));
}

/// A writer that takes so many bytes, and no more.
struct Limited {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.most - self.bytes.len());
        if taken == 0 && !bytes.is_empty() {
            return Err(io::Error::other("the disk is full"));
        }
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Wherever a writer fails, within an output or between two: what was saved goes on with, once what was written is cut back to what
/// counts, and the outputs are those of the whole.
#[test]
fn a_writer_that_fails_loses_nothing() {
    let mut random = Random::new(12);
    let mut failures = 0;
    for n in 0..300 {
        let dtype = DType::ALL[n % 13];
        let view = View::new([1 + random.below(4), 1 + random.below(300), 1 + random.below(3)]).unwrap();
        let both = ArgMax::new(dtype, view.clone()).output(ArgMaxOutput::ValuesAndIndices);
        let op: AnyOperation = match n % 5 {
            0 => ReduceMax::new(dtype, view.clone()).axes([1]).into(),
            1 => Hardmax::new(dtype, view.clone(), Slices::Along(1)).into(),
            2 => both.axes([2]).into(),
            3 => both.axes([1]).into(),
            _ => ReduceMax::new(dtype, view.clone()).axes([0, 2]).into(),
        };
        let input = tensor(dtype, view.len(), common::Data::EdgesWithoutNan, random.word());
        let expected = op.reference(&[&input]).unwrap();
        let chunk_bytes = 1 + random.below(200);
        let limited = |output: &Tensor| Limited { bytes: vec![], most: output.bytes().len() };
        let mut writers: Vec<Limited> = expected.iter().map(limited).collect();
        let fails = random.below(writers.len() as u64) as usize;
        writers[fails].most = random.below(writers[fails].most as u64 + 1) as usize;
        let mut stream = Stream::new_blocking(&gpus()[0], op.clone(), chunk_bytes).unwrap();
        stream = stream.outputs_to(writers.iter_mut().map(|own| own as &mut dyn Write).collect()).unwrap();
        let outcome = stream.push_blocking(input.bytes()).and_then(|()| stream.flush_blocking());
        failures += u64::from(outcome.is_err());
        let saved = stream.save();
        drop(stream);
        for (writer, written) in writers.iter_mut().zip(saved.written_bytes()) {
            assert!(written as usize <= writer.bytes.len());
            writer.bytes.truncate(written as usize);
            writer.most = usize::MAX;
        }
        let rest = &input.bytes()[saved.merged_bytes() as usize..];
        let stream = Stream::resume_blocking(&gpus()[1], op.clone(), saved).unwrap();
        let sinks = writers.iter_mut().map(|own| own as &mut dyn Write).collect();
        let mut stream = stream.outputs_to(sinks).unwrap();
        stream.push_blocking(rest).unwrap();
        assert_eq!(stream.finish_blocking().unwrap(), []);
        for (writer, expected) in writers.iter().zip(&expected) {
            assert_eq!(writer.bytes, expected.bytes(), "{op:?} in chunks of {chunk_bytes}, output {fails} fails");
        }
    }
    assert!(failures > 100, "{failures} of 300 failed");
}

/// Every reduction of a tensor over every set of axes, by every name of them.
fn reductions_of(dtype: DType, shape: &[u64]) -> Vec<AnyOperation> {
    let (rank, view) = (shape.len() as i64, View::new(shape).unwrap());
    let mut all = Vec::new();
    for set in 0..1 << rank {
        let axes: Vec<i64> = (0..rank).filter(|d| set >> d & 1 == 1).collect();
        all.push(ReduceMax::new(dtype, view.clone()).axes(axes.clone()).into());
        all.push(ArgMax::new(dtype, view.clone()).axes(axes).into());
    }
    let slices = (0..rank).map(Slices::Along).chain((0..=rank).map(Slices::From));
    all.extend(slices.map(|slices| Hardmax::new(dtype, view.clone(), slices).into()));
    all
}

/// Two operations over one tensor: a state that one saved is refused by the other, or goes on to the other's answer.
#[test]
fn a_state_is_refused_or_gives_the_answer_of_who_takes_it() {
    let (mut random, mut refused, mut taken) = (Random::new(13), 0, 0);
    for rank in 1..=3 {
        let (dtype, shape) = (DType::ALL[random.below(13) as usize], vec![2; rank]);
        let input = small_tensor(&mut random, dtype, &shape);
        let all = reductions_of(dtype, &shape);
        for op in &all {
            let mut stream = Stream::new_blocking(&gpus()[0], op.clone(), 1 + random.below(20)).unwrap();
            let (bytes, at_the_end) = (input.bytes(), random.below(2) == 0);
            let cut = if at_the_end { bytes.len() } else { random.below(bytes.len() as u64) as usize };
            stream.push_blocking(&bytes[..cut]).unwrap();
            stream.flush_blocking().unwrap();
            for other in &all {
                let saved = stream.save();
                #[cfg(feature = "serde")]
                let saved = serde_json::from_str(&serde_json::to_string(&saved).unwrap()).unwrap();
                match Stream::resume_blocking(&gpus()[1], other.clone(), saved) {
                    Err(Error::StreamState { .. }) => refused += 1,
                    Err(error) => panic!("{op:?}, {other:?}: {error}"),
                    Ok(mut stream) => {
                        taken += 1;
                        stream.push_blocking(&bytes[stream.taken_bytes() as usize..]).unwrap();
                        let (expected, got) = (other.reference(&[&input]).unwrap(), stream.finish_blocking().unwrap());
                        assert_eq!(first_difference(&expected, &got), None, "{op:?}, {other:?}\n{input:?}");
                    }
                }
            }
        }
    }
    assert!(refused > 500 && taken >= 40, "{refused} refused, {taken} taken");
}

/// Whatever differs of the operation, its type and options included, the state is another's.
#[test]
fn a_state_of_another_operation_is_refused() {
    let view = |shape: [u64; 2]| View::new(shape).unwrap();
    let max = || ReduceMax::new(DType::F32, view([4, 2])).axes([1]);
    let arg_max = || ArgMax::new(DType::F32, view([4, 2])).axes([1]);
    let all: [AnyOperation; 9] = [
        max().into(),
        max().nan(NanPolicy::Ignore).into(),
        max().axes([0]).into(),
        ReduceMax::new(DType::I32, view([4, 2])).axes([1]).into(),
        ReduceMax::new(DType::F32, view([2, 4])).axes([1]).into(),
        arg_max().into(),
        arg_max().index(IndexType::I32).into(),
        arg_max().select_last(true).into(),
        Hardmax::new(DType::F32, view([4, 2]), Slices::Along(1)).into(),
    ];
    for (n, op) in all.iter().enumerate() {
        let mut stream = Stream::new_blocking(&gpus()[0], op.clone(), 16).unwrap();
        stream.push_blocking(&[0; 16]).unwrap();
        stream.flush_blocking().unwrap();
        for (m, other) in all.iter().enumerate() {
            let resumed = Stream::resume_blocking(&gpus()[0], other.clone(), stream.save());
            match resumed {
                Ok(_) => assert_eq!(n, m),
                Err(error) => {
                    assert!(n != m && matches!(error, Error::StreamState { .. }), "{op:?}, {other:?}: {error}")
                }
            }
        }
    }
    // How the tensor lies, and how the axes are named, is nothing to a stream.
    let turned = view([2, 4]).permute(&[1, 0]).unwrap();
    let same: [[AnyOperation; 2]; 4] = [
        [max().into(), ReduceMax::new(DType::F32, turned).axes([1]).into()],
        [max().into(), max().axes([-1]).keep_dims(true).into()],
        [arg_max().axes([1, 0]).into(), ArgMax::new(DType::F32, view([4, 2])).into()],
        [Slices::Along(-1), Slices::From(1)].map(|slices| Hardmax::new(DType::F32, view([4, 2]), slices).into()),
    ];
    for [one, other] in same {
        let stream = Stream::new_blocking(&gpus()[0], one, 16).unwrap();
        assert!(Stream::resume_blocking(&gpus()[0], other, stream.save()).is_ok());
    }
}

#[test]
fn the_maximum_of_streams_is_written_as_it_is_found() {
    let mut random = Random::new(8);
    for dtype in DType::ALL {
        for _ in 0..4 {
            let (len, count) = (random.below(3000), 1 + random.below(3) as usize);
            let inputs: Vec<Tensor> =
                (0..count).map(|_| tensor(dtype, len, common::Data::Edges, random.word())).collect();
            let mut op = Max::new(dtype, vec![View::new([len]).unwrap(); count]);
            if random.below(2) == 0 {
                op = op.constant(tensor(dtype, 1, common::Data::Edges, random.word()));
            }
            if random.below(2) == 0 {
                op = op.in_place(0);
            }
            let expected = op.reference(&inputs.iter().collect::<Vec<_>>()).unwrap();
            let mut sources: Vec<&[u8]> = inputs.iter().map(Tensor::bytes).collect();
            let sources = sources.iter_mut().map(|source| source as &mut dyn Read).collect();
            let (mut output, mut told, chunk_bytes) = (Vec::new(), 0, random.below(4000));
            let gpu = &gpus()[random.below(2) as usize];
            let progress = |progress: Progress| told = progress.merged_bytes;
            let written = gpu.max_of_streams_blocking(&op, sources, &mut output, chunk_bytes, progress).unwrap();
            assert_eq!((written, told), (len * dtype.bytes(), len * dtype.bytes()));
            let got = [Tensor::from_bytes(dtype, [len], output).unwrap()];
            assert_eq!(first_difference(&expected, &got), None, "{op:?} in chunks of {chunk_bytes}");
        }
    }
}

#[test]
fn what_a_max_of_streams_does_not_take_is_named() {
    let gpu = &gpus()[0];
    let row = View::new([10]).unwrap();
    let run = |op: &Max, mut sources: Vec<&[u8]>| {
        let mut output = Vec::new();
        let sources = sources.iter_mut().map(|source| source as &mut dyn Read).collect();
        let outcome = gpu.max_of_streams_blocking(op, sources, &mut output, 4, |_| {});
        (outcome.unwrap_err().to_string(), output)
    };
    let two = Max::new(DType::U8, [row.clone(), row.clone()]);
    assert_eq!(run(&two, vec![&[0; 10]]).0, "1 sources given, 2 expected");
    let (error, written) = run(&two, vec![&[0; 10], &[0; 9]]);
    assert_eq!((error.as_str(), written.len() % 4), ("9 bytes of a stream given, 10 expected", 0));
    let wide = Max::new(DType::U8, [View::new([2, 10]).unwrap(), row.clone()]);
    let expected = "operand 1 of a streamed Max has shape [10], [2, 10] expected";
    assert_eq!(run(&wide, vec![&[0; 20], &[0; 10]]).0, expected);
    let huge = Max::new(DType::F64, [View::new([1 << 61]).unwrap()]);
    let too_large = "elements of an output: 2305843009213693952 given, at most 2305843009213693951 possible";
    assert_eq!(run(&huge, vec![&[0; 8]]).0, too_large);
    let constant = Tensor::new([10], &[0_u8; 10]).unwrap();
    let error = run(&Max::new(DType::U8, [row]).constant(constant), vec![&[0; 10]]).0;
    assert_eq!(error, "operand 1 of a streamed Max has shape [10], [1] expected");
}

#[test]
fn what_a_stream_does_not_take_is_named() {
    let gpu = &gpus()[0];
    let view = View::new([10]).unwrap();
    let error = Stream::new_blocking(gpu, Max::new(DType::U8, [view.clone()]), 100).unwrap_err();
    assert!(matches!(error, Error::NoReduction { .. }), "{error}");
    let huge = ReduceMax::new(DType::F64, View::new([i64::MAX as u64 / 2]).unwrap());
    assert!(matches!(Stream::new_blocking(gpu, huge, 100), Err(Error::TooLarge { .. })));
    let large = ReduceMax::new(DType::F64, View::new([1 << 59]).unwrap());
    assert_eq!(Stream::new_blocking(gpu, large, 100).unwrap().total_bytes(), 1 << 62);
    let op = ReduceMax::new(DType::Bool, view.clone());
    let mut stream = Stream::new_blocking(gpu, op.clone(), 4).unwrap();
    let error = stream.push_blocking(&[0; 11]).unwrap_err();
    assert_eq!(error.to_string(), "11 bytes of a stream given, 10 expected");
    stream.push_blocking(&[0; 3]).unwrap();
    assert_eq!(stream.push_blocking(&[0, 7]), Err(Error::BoolValue { element: 4, value: 7 }));
    assert_eq!(stream.taken_bytes(), 3);
    let saved = stream.save();
    assert_eq!(stream.finish_blocking(), Err(Error::StreamLength { given: 3, expected: 10 }));
    let other = ReduceMax::new(DType::Bool, View::new([9]).unwrap());
    let error = Stream::resume_blocking(gpu, other, saved).unwrap_err();
    assert!(matches!(error, Error::StreamState { .. }), "{error}"); // also where nothing was merged yet
    let mut stream = Stream::new_blocking(gpu, op.clone(), 4).unwrap();
    stream.push_blocking(&[0; 8]).unwrap();
    stream.flush_blocking().unwrap();
    let saved = stream.save();
    assert_eq!(saved.merged_bytes(), 8);
    assert!(matches!(stream.outputs_to(vec![]), Err(Error::WrongCount { .. })));
    for other in [
        AnyOperation::from(ReduceMax::new(DType::Bool, View::new([7]).unwrap())),
        ReduceMax::new(DType::U8, view.clone()).into(),
        ReduceMax::new(DType::Bool, View::new([2, 5]).unwrap()).axes([1]).into(),
        ArgMax::new(DType::Bool, view).into(),
    ] {
        let error = Stream::resume_blocking(gpu, other.clone(), saved.clone()).unwrap_err();
        assert!(matches!(error, Error::StreamState { .. }), "{other:?}: {error}");
    }
    assert!(Stream::resume_blocking(gpu, op, saved).is_ok());
}

#[test]
fn progress_is_told_after_each_chunk() {
    let mut told = Vec::new();
    let op = ReduceMax::new(DType::U8, View::new([1000]).unwrap());
    let stream = Stream::new_blocking(&gpus()[0], op, 100).unwrap();
    let mut stream = stream.on_progress(|progress| told.push(progress));
    let buffers = stream.buffer_bytes();
    assert!(buffers < 3 * 4 * 128, "{buffers}");
    stream.push_blocking(&[1; 1000]).unwrap();
    assert_eq!(stream.buffer_bytes(), buffers);
    stream.finish_blocking().unwrap();
    let expected = (1..=10).map(|n| Progress { merged_bytes: 100 * n, total_bytes: 1000 });
    assert_eq!(told, expected.collect::<Vec<_>>());
}
