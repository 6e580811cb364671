//! Checkpoints: what is stored is read, and files that are torn or hostile give an error each, no panic, and no more memory
//! than their headers are worth.

#[path = "common/budget.rs"]
mod budget;
mod common;

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use budget::{HEADERS, measured};
use common::{Data, Random};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use wgmax::checkpoint::Checkpoint;
use wgmax::{DType, Error};

/// An empty folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint").join(name);
    drop(fs::remove_dir_all(&folder)); // what an earlier run left
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A safetensors file of this header and so many bytes of data.
fn file(header: impl AsRef<[u8]>, data: usize) -> Vec<u8> {
    let header = header.as_ref();
    [&(header.len() as u64).to_le_bytes(), header, &vec![1; data]].concat()
}

fn entry(name: &str, dtype: &str, shape: &str, begin: u64, end: u64) -> String {
    format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{begin},{end}]}}")
}

fn header(entries: &[String]) -> String {
    format!("{{{}}}", entries.join(","))
}

/// Two tensors of the type F32, of 8 and 4 bytes.
fn small(first: &str, second: &str) -> Vec<u8> {
    file(header(&[entry(first, "F32", "[2]", 0, 8), entry(second, "F32", "[]", 8, 12)]), 12)
}

/// An index of two files that exist beside it.
fn index(folder: &Path, weight_map: &str) -> PathBuf {
    fs::write(folder.join("a.safetensors"), small("a", "b")).unwrap();
    fs::write(folder.join("c.safetensors"), small("c", "d")).unwrap();
    let path = folder.join("model.safetensors.index.json");
    fs::write(&path, format!("{{\"metadata\":{{\"total_size\":24}},\"weight_map\":{weight_map}}}")).unwrap();
    path
}

const WEIGHT_MAP: &str = r#"{"d":"c.safetensors","a":"a.safetensors","c":"c.safetensors","b":"a.safetensors"}"#;

/// The path and the problem of a refusal.
fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (String, String) {
    match outcome {
        Err(Error::File { path, problem }) => (path, problem),
        other => panic!("{other:?} where a file was to be refused"),
    }
}

fn names(checkpoint: &Checkpoint) -> Vec<&str> {
    checkpoint.tensors().iter().map(|tensor| tensor.name()).collect()
}

#[test]
fn every_type_is_read_as_it_was_written() {
    let kinds = [
        Dtype::F32,
        Dtype::F16,
        Dtype::BF16,
        Dtype::F64,
        Dtype::I8,
        Dtype::I16,
        Dtype::I32,
        Dtype::I64,
        Dtype::U8,
        Dtype::U16,
        Dtype::U32,
        Dtype::U64,
        Dtype::BOOL,
    ];
    let tensors = DType::ALL.map(|dtype| common::tensor(dtype, 15, Data::Edges, 1));
    let views = tensors
        .iter()
        .zip(kinds)
        .map(|(tensor, kind)| (tensor.dtype().name(), TensorView::new(kind, vec![3, 5], tensor.bytes()).unwrap()));
    let bytes = safetensors::serialize(views, None).unwrap();
    let path = folder("types").join("all.safetensors");
    fs::write(&path, bytes).unwrap();
    let checkpoint = Checkpoint::open(&path).unwrap();
    assert_eq!(checkpoint.tensors().len(), DType::ALL.len());
    for tensor in &tensors {
        let read = checkpoint.read(tensor.dtype().name()).unwrap();
        assert_eq!((read.dtype(), read.shape(), read.bytes()), (tensor.dtype(), &[3, 5][..], tensor.bytes()));
    }
}

#[test]
fn an_index_names_tensors_of_several_files() {
    let folder = folder("index");
    let path = index(&folder, WEIGHT_MAP);
    for given in [path, folder.clone()] {
        let checkpoint = Checkpoint::open(given).unwrap();
        assert_eq!(names(&checkpoint), ["a", "b", "c", "d"], "file by file, and as they lie");
        let d = checkpoint.tensor("d").unwrap();
        assert_eq!((d.path(), d.shape(), d.type_name()), (&*folder.join("c.safetensors"), &[][..], "F32".into()));
        assert_eq!(d.range().end, fs::metadata(d.path()).unwrap().len());
        assert_eq!(checkpoint.read("d").unwrap().bytes(), [1; 4]);
    }
    // What a file has beyond the index is not the checkpoint's.
    let path = index(&folder, r#"{"b":"a.safetensors"}"#);
    assert_eq!(names(&Checkpoint::open(path).unwrap()), ["b"]);
}

#[test]
fn a_folder_has_one_file_or_one_index() {
    let folder = folder("folder");
    let (_, problem) = refused(Checkpoint::open(&folder));
    assert_eq!(problem, "no *.safetensors.index.json and no *.safetensors in it");
    fs::write(folder.join("one.safetensors"), small("a", "b")).unwrap();
    assert_eq!(names(&Checkpoint::open(&folder).unwrap()), ["a", "b"]);
    fs::write(folder.join("two.safetensors"), small("c", "d")).unwrap();
    let (_, problem) = refused(Checkpoint::open(&folder));
    assert_eq!(problem, "2 files *.safetensors, one expected");
}

#[test]
fn a_reader_has_the_tensors_bytes_and_no_others() {
    let path = folder("reader").join("x.safetensors");
    let mut bytes = small("a", "b");
    let data = bytes.len() - 12;
    (0..12).for_each(|n| bytes[data + n] = n as u8);
    fs::write(&path, &bytes).unwrap();
    let checkpoint = Checkpoint::open(&path).unwrap();

    let mut reader = checkpoint.reader("a").unwrap();
    let (mut three, mut rest) = ([0; 3], Vec::new());
    reader.read_exact(&mut three).unwrap();
    reader.read_to_end(&mut rest).unwrap();
    assert_eq!((three, rest.as_slice(), reader.len()), ([0, 1, 2], &[3, 4, 5, 6, 7][..], 8));

    assert_eq!(reader.seek(SeekFrom::End(-2)).unwrap(), 6);
    rest.clear();
    reader.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, [6, 7]);
    assert_eq!(reader.seek(SeekFrom::Current(100)).unwrap(), 108);
    assert_eq!(reader.read(&mut three).unwrap(), 0, "nothing lies behind the end");
    for none in [SeekFrom::Current(-109), SeekFrom::End(-9), SeekFrom::Start(u64::MAX), SeekFrom::Current(i64::MAX)] {
        assert_eq!(reader.seek(none).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(reader.stream_position().unwrap(), 108, "the place stays where it was");
    }

    // A file that becomes shorter while it is read.
    File::options().write(true).open(&path).unwrap().set_len(data as u64 + 5).unwrap();
    reader.rewind().unwrap();
    assert_eq!(reader.read_to_end(&mut rest).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    let (_, problem) = refused(checkpoint.read("a"));
    assert_eq!(problem, "tensor \"a\": the file ends at byte 5 of the tensor's 8");
    fs::remove_file(&path).unwrap();
    refused(checkpoint.reader("a").map(drop));
}

#[test]
fn other_types_are_listed_and_not_read() {
    let path = folder("other_types").join("x.safetensors");
    let others = [("F8_E4M3", "[4]", 4), ("C64", "[2]", 16), ("F4", "[3,2]", 3), ("F6_E2M3", "[4]", 3)];
    let mut end = 0;
    let entries = others.map(|(kind, shape, bytes)| {
        end += bytes;
        entry(kind, kind, shape, end - bytes, end)
    });
    fs::write(&path, file(header(&entries), end as usize)).unwrap();
    let checkpoint = Checkpoint::open(&path).unwrap();
    for (kind, ..) in others {
        assert_eq!(checkpoint.tensor(kind).unwrap().type_name(), kind);
        let expected = format!(
            "tensor \"{kind}\": type {kind} is not supported, only f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool"
        );
        assert_eq!(refused(checkpoint.reader(kind).map(drop)), (path.display().to_string(), expected.clone()));
        assert_eq!(refused(checkpoint.read(kind)).1, expected);
    }
    let (_, problem) = refused(checkpoint.tensor("none"));
    assert_eq!(problem, "no tensor \"none\" among 4, the first of them \"F8_E4M3\", \"C64\", \"F4\", \"F6_E2M3\"");
}

#[test]
fn a_bool_that_is_none_is_refused() {
    let path = folder("bool").join("x.safetensors");
    let mut bytes = file(header(&[entry("b", "BOOL", "[2]", 0, 2)]), 2);
    *bytes.last_mut().unwrap() = 2;
    fs::write(&path, bytes).unwrap();
    let error = Checkpoint::open(&path).unwrap().read("b").unwrap_err();
    assert_eq!(error, Error::BoolValue { element: 1, value: 2 });
}

/// A file that is as long as it says, and has hardly a block on disk.
#[cfg(target_os = "linux")]
#[test]
fn a_tensor_larger_than_memory() {
    let path = folder("larger_than_memory").join("x.safetensors");
    let len = 1_u64 << 42;
    let bytes = file(header(&[entry("w", "U8", &format!("[{len}]"), 0, len)]), 0);
    fs::write(&path, &bytes).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(bytes.len() as u64 + len).unwrap();
    let error = Checkpoint::open(&path).unwrap().read("w").unwrap_err();
    fs::remove_file(&path).unwrap();
    let Error::TooLarge { what: "bytes of a stored tensor in host memory", given, limit } = error else {
        panic!("{error:?}")
    };
    assert!(given == len && limit < len, "{error}");
}

/// A wrong file, and what is said of it.
type Wrong = (&'static str, Vec<u8>, &'static str);

fn wrong_files() -> Vec<Wrong> {
    let one = |dtype, shape, begin, end| header(&[entry("w", dtype, shape, begin, end)]);
    let two = |begin, end| header(&[entry("v", "F32", "[2]", 0, 8), entry("w", "F32", "[1]", begin, end)]);
    let with_len = |len: u64| [&len.to_le_bytes()[..], b"{}"].concat();
    vec![
        ("nothing", vec![], "0 bytes, at least the 8 of a header's length expected"),
        ("half a length", vec![2, 0, 0, 0], "4 bytes, at least the 8 of a header's length expected"),
        ("a header beyond the file", with_len(3), "a header of 3 bytes, at most 2 expected"),
        ("the longest header", with_len(u64::MAX), "a header of 18446744073709551615 bytes, at most 2 expected"),
        ("no header", file("", 0), "header: EOF while parsing a value at line 1 column 0"),
        ("no JSON", file("{]", 0), "header: key must be a string at line 1 column 2"),
        (
            "no object",
            file("[]", 0),
            "header: invalid type: sequence, expected an object with a member for each tensor",
        ),
        ("no text", file([b'{', 0xff, b'}'], 0), "header: invalid utf-8 sequence of 1 bytes from index 1"),
        ("JSON in JSON", file("[".repeat(1000), 0), "header: invalid type: sequence"),
        ("a tensor that is none", file("{\"w\":1}", 0), "header: tensor \"w\": invalid type: integer `1`"),
        (
            "no shape",
            file(r#"{"w":{"dtype":"F32","data_offsets":[0,0]}}"#, 0),
            "header: tensor \"w\": missing field `shape`",
        ),
        (
            "an unknown type",
            file(one("F33", "[]", 0, 4), 4),
            "header: tensor \"w\": unknown variant `F33`, expected one of",
        ),
        ("a negative size", file(one("F32", "[-1]", 0, 4), 4), "header: tensor \"w\": invalid value: integer `-1`"),
        ("a broken size", file(one("F32", "[1.5]", 0, 4), 4), "header: tensor \"w\": invalid type: floating point"),
        (
            "a size beyond 64 bits",
            file(one("F32", "[18446744073709551616]", 0, 4), 4),
            "header: tensor \"w\": invalid type",
        ),
        (
            "a name twice",
            file(header(&[entry("w", "F32", "[1]", 0, 4), entry("w", "F32", "[1]", 0, 4)]), 4),
            "tensor \"w\" comes twice",
        ),
        ("a gap", file(two(9, 13), 13), "tensor \"w\": bytes 9 to 13, a range from 8 and up to 13 expected"),
        ("an overlap", file(two(4, 8), 8), "tensor \"w\": bytes 4 to 8, a range from 8 and up to 8 expected"),
        ("bytes shared", file(two(0, 4), 8), "tensor \"v\": bytes 0 to 8, a range from 4 and up to 8 expected"),
        (
            "a gap at the beginning",
            file(one("F32", "[1]", 4, 8), 8),
            "tensor \"w\": bytes 4 to 8, a range from 0 and up to 8 expected",
        ),
        (
            "an end before the beginning",
            file(two(8, 4), 12),
            "tensor \"w\": bytes 8 to 4, a range from 8 and up to 12 expected",
        ),
        (
            "bytes beyond the file",
            file(one("F32", "[2]", 0, 8), 4),
            "tensor \"w\": bytes 0 to 8, a range from 0 and up to 4 expected",
        ),
        (
            "bytes beyond all files",
            file(one("U8", "[18446744073709551615]", 0, u64::MAX), 4),
            "tensor \"w\": bytes 0 to 18446744073709551615, a range from 0 and up to 4 expected",
        ),
        (
            "too few bytes",
            file(one("F32", "[2,3]", 0, 20), 20),
            "tensor \"w\": 20 bytes given, type F32 and shape [2, 3] take 24 bytes",
        ),
        (
            "bytes of no elements",
            file(one("F32", "[0,3]", 0, 4), 4),
            "tensor \"w\": 4 bytes given, type F32 and shape [0, 3] take 0 bytes",
        ),
        (
            "half a byte",
            file(one("F4", "[3]", 0, 1), 1),
            "tensor \"w\": 1 bytes given, type F4 and shape [3] take 12 bits",
        ),
        (
            "sizes that wrap to 4 bytes",
            file(one("U8", "[4294967296,4294967296,4]", 0, 4), 4),
            "tensor \"w\": 4 bytes given, type U8 and shape [4294967296, 4294967296, 4] take more than 2^63 - 1 elements",
        ),
        ("bytes of no tensor", file(two(8, 12), 13), "expected of its header and tensors"),
        ("data without tensors", file("{}", 1), "11 bytes, 10 expected of its header and tensors"),
    ]
}

#[test]
fn wrong_files_are_refused_with_what_is_wrong() {
    let path = folder("wrong").join("x.safetensors");
    for (what, bytes, expected) in wrong_files() {
        fs::write(&path, &bytes).unwrap();
        let (outcome, usage) = measured(|| Checkpoint::open(&path));
        HEADERS.check(what, &expected, bytes.len() as u64, &usage);
        let (named, problem) = refused(outcome);
        assert_eq!(named, path.display().to_string(), "{what}");
        assert!(problem.contains(expected), "{what}: {problem}");
    }
}

#[test]
fn a_header_beyond_the_formats_limit_is_refused() {
    let path = folder("long").join("x.safetensors");
    fs::write(&path, 100_000_001_u64.to_le_bytes()).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap(); // a hole, which takes no room
    let (outcome, usage) = measured(|| Checkpoint::open(&path));
    assert_eq!(refused(outcome).1, "a header of 100000001 bytes, at most 100000000 expected");
    let index = path.with_extension("json");
    fs::rename(&path, &index).unwrap();
    assert_eq!(refused(Checkpoint::open(&index)).1, "an index of 1073741824 bytes, at most 100000000 expected");
    assert!(usage.total < 1 << 12, "{usage:?}");
}

#[test]
fn wrong_indices_are_refused_with_what_is_wrong() {
    let elsewhere = folder("elsewhere");
    fs::write(elsewhere.join("x.safetensors"), small("a", "b")).unwrap();
    let absolute = format!("{{\"a\":{:?}}}", elsewhere.join("x.safetensors"));
    let nul = r#"{"a":"a\u0000.safetensors"}"#;
    let long = format!("{{\"a\":\"{}.safetensors\"}}", "x".repeat(1 << 20));
    let beside = "a name beside the index expected";
    let wrong = [
        ("no map", "1", "index: invalid type: integer `1`, expected an object with a member for each tensor"),
        ("a file that is no name", r#"{"a":1}"#, "index: tensor \"a\": invalid type: integer `1`, expected a string"),
        ("a name twice", r#"{"a":"a.safetensors","a":"c.safetensors"}"#, "tensor \"a\" comes twice"),
        ("a path upwards", r#"{"a":"../elsewhere/x.safetensors"}"#, beside),
        ("an absolute path", &absolute, beside),
        ("a folder's file", r#"{"a":"./a.safetensors"}"#, beside),
        ("a path of the other kind", r#"{"a":"..\\a.safetensors"}"#, beside),
        ("the folder above", r#"{"a":".."}"#, beside),
        ("no file", r#"{"a":""}"#, beside),
        ("a name that no system has", &long, beside),
        ("the folder itself", r#"{"a":"."}"#, beside),
        ("a missing file", r#"{"a":"b.safetensors"}"#, "os error 2"),
        ("a name with an end", nul, "NUL"),
        (
            "a missing tensor",
            r#"{"a":"a.safetensors","b":"c.safetensors"}"#,
            "no tensor \"b\", which the index says is there",
        ),
        ("itself", r#"{"a":"model.safetensors.index.json"}"#, "a header of "),
    ];
    let folder = folder("wrong_index");
    for (what, weight_map, expected) in wrong {
        let path = index(&folder, weight_map);
        let (named, problem) = refused(Checkpoint::open(&path));
        assert!(named.starts_with(&folder.display().to_string()), "{what}: {named}");
        assert!(problem.contains(expected) && problem.len() < 600, "{what}: {problem}");
    }
    let path = index(&folder, WEIGHT_MAP);
    fs::write(&path, r#"{"metadata":{}}"#).unwrap();
    assert!(refused(Checkpoint::open(&path)).1.starts_with("index: missing field `weight_map`"));
    fs::remove_file(folder.join("a.safetensors")).unwrap();
    fs::create_dir(folder.join("a.safetensors")).unwrap();
    fs::write(&path, r#"{"weight_map":{"a":"a.safetensors"}}"#).unwrap();
    assert_eq!(refused(Checkpoint::open(&path)).1, "no regular file");
    refused(Checkpoint::open(folder.join("none")));
}

/// A file, or an index, with something in it changed.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(2) {
        let at = random.below(bytes.len() as u64) as usize;
        let len = 1 + random.below(40.min((bytes.len() - at) as u64)) as usize;
        match random.below(9) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = b"0123456789{}[]\",:-.eE \\/"[random.below(24) as usize],
            2 => drop(bytes.drain(at..at + len)),
            3 => bytes.truncate(at.max(1)),
            4 => bytes.extend(vec![0; len]),
            5 => {
                let again = bytes[at..at + len].to_vec();
                bytes.splice(at..at, again);
            }
            6 => bytes[at..at + len].reverse(),
            7 => {
                let len = random.word() >> random.below(64);
                bytes.iter_mut().zip(len.to_le_bytes()).for_each(|(byte, new)| *byte = new);
            }
            _ => replace_number(&mut bytes, at, random),
        }
    }
    bytes
}

/// Puts another number in the place of the next one.
fn replace_number(bytes: &mut Vec<u8>, from: usize, random: &mut Random) {
    let Some(begin) = (from..bytes.len()).find(|&n| bytes[n].is_ascii_digit()) else { return };
    let end = (begin..bytes.len()).find(|&n| !bytes[n].is_ascii_digit()).unwrap_or(bytes.len());
    let numbers = [
        "0",
        "1",
        "2",
        "8",
        "12",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "1e3",
        "99999999999999999999",
    ];
    bytes.splice(begin..end, numbers[random.below(numbers.len() as u64) as usize].bytes());
}

/// The header's length put right, so that what lies in it is looked at.
fn repaired(mut bytes: Vec<u8>, data: usize) -> Vec<u8> {
    let len = bytes.len().saturating_sub(8 + data) as u64;
    bytes.iter_mut().zip(len.to_le_bytes()).for_each(|(byte, new)| *byte = new);
    bytes
}

/// Opens a checkpoint, within budget, and reads all that it has: how many tensors, or what is wrong.
fn tried(path: &Path, bytes: u64) -> Result<usize, String> {
    let (outcome, usage) = measured(|| Checkpoint::open(path));
    HEADERS.check("opening a checkpoint", &path, bytes, &usage);
    let checkpoint = match outcome {
        Err(Error::File { problem, .. }) if problem.len() < 600 => return Err(problem),
        outcome => outcome.unwrap_or_else(|error| panic!("another error than of a file: {error:?}")),
    };
    for tensor in checkpoint.tensors() {
        let Ok(kind) = tensor.tensor_type() else { continue };
        match checkpoint.read(tensor.name()) {
            Ok(read) => assert_eq!(*read.tensor_type(), kind),
            Err(error) => assert!(matches!(error, Error::BoolValue { .. } | Error::TooLarge { .. }), "{error}"),
        }
    }
    Ok(checkpoint.tensors().len())
}

/// Mutated files are refused, or read; and the format's own reader finds the same.
#[test]
fn mutated_files_are_refused_or_read() {
    let path = folder("mutated").join("x.safetensors");
    let entries = [
        entry("model.w", "F32", "[2,3]", 0, 24),
        entry("model.b", "BF16", "[4]", 24, 32),
        entry("model.none", "U8", "[0,7]", 32, 32),
        entry("mask", "BOOL", "[3]", 32, 35),
        entry("scale", "F8_E4M3", "[]", 35, 36),
    ];
    let original = file(header(&entries), 36);
    let (mut random, mut read, mut refusals) = (Random::new(7), 0, 0);
    for case in 0..6000 {
        let changed = mutated(&original, &mut random);
        let bytes = if case % 3 == 0 { changed } else { repaired(changed, 36) };
        fs::write(&path, &bytes).unwrap();
        let outcome = tried(&path, bytes.len() as u64);
        match (&outcome, SafeTensors::deserialize(&bytes)) {
            (Ok(len), Ok(peer)) if *len == peer.len() => read += 1,
            (Err(_), Err(_)) => refusals += 1,
            // The format's reader keeps one of two tensors of one name.
            (Err(problem), Ok(_)) if problem.ends_with("comes twice") => refusals += 1,
            (_, peer) => panic!("case {case}: {outcome:?}, the format's reader: {:?}", peer.map(|peer| peer.len())),
        }
    }
    println!("{read} read, {refusals} refused");
    assert!(read >= 100 && refusals >= 1000, "{read} {refusals}");
}

#[test]
fn mutated_indices_are_refused_or_read() {
    let folder = folder("mutated_index");
    let path = index(&folder, WEIGHT_MAP);
    let original = fs::read(&path).unwrap();
    let files: u64 = ["a", "c"]
        .map(|name| fs::metadata(folder.join(name).with_extension("safetensors")).unwrap().len())
        .iter()
        .sum();
    let (mut random, mut read, mut refusals) = (Random::new(8), 0, 0);
    for _ in 0..3000 {
        let bytes = mutated(&original, &mut random);
        fs::write(&path, &bytes).unwrap();
        match tried(&path, bytes.len() as u64 + files) {
            Ok(_) => read += 1,
            Err(_) => refusals += 1,
        }
    }
    println!("{read} read, {refusals} refused");
    assert!(read >= 50 && refusals >= 500, "{read} {refusals}");
}

/// A header of a size.
type Family = (&'static str, fn(usize) -> String);

/// Whatever a header is made of, memory grows as it does.
#[test]
fn opening_takes_memory_in_proportion_to_headers() {
    let path = folder("budget").join("x.safetensors");
    let families: [Family; 6] = [
        ("many tensors", |n| header(&(0..n).map(|i| entry(&i.to_string(), "U8", "[0]", 0, 0)).collect::<Vec<_>>())),
        ("many tensors of short names", |n| {
            header(&(0..n).map(|i| format!("\"{i}\":[\"U8\",[0],[0,0]]")).collect::<Vec<_>>())
        }),
        ("many dimensions", |n| header(&[entry("w", "U8", &format!("[0{}]", ",1".repeat(n)), 0, 0)])),
        ("a long name", |n| header(&[entry(&"w".repeat(n), "U8", "[1]", 0, 0)])),
        ("metadata", |n| format!("{{\"__metadata__\":{{{}\"k\":\"v\"}}}}", "\"k\":\"v\",".repeat(n))),
        ("a name again and again", |n| header(&vec![entry("w", "U8", "[0]", 0, 0); n])),
    ];
    for (what, family) in families {
        for size in [10, 1000, 100_000] {
            let bytes = file(family(size), 0);
            fs::write(&path, &bytes).unwrap();
            drop(tried(&path, bytes.len() as u64));
            let index = path.with_extension("json");
            let places: Vec<String> = (0..size).map(|i| format!("\"{i}\":\"x.safetensors\"")).collect();
            let text = format!("{{\"weight_map\":{{{}}}}}", places.join(","));
            fs::write(&index, &text).unwrap();
            let outcome = tried(&index, (bytes.len() + text.len()) as u64);
            println!("{what}, {size}: {outcome:?}");
        }
    }
}
