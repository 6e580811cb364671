//! The text of AMD's machine code: how many instructions there are for a pack of 16 bytes.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// What loads and stores 16 bytes for each invocation, up to RDNA2 and from RDNA3 on.
const LOADS: [&str; 2] = ["buffer_load_dwordx4", "buffer_load_b128"];
const STORES: [&str; 2] = ["buffer_store_dwordx4", "buffer_store_b128"];
/// What loads a word.
const WORD_LOADS: [&str; 2] = ["buffer_load_dword", "buffer_load_b32"];

/// A shader's instructions.
pub struct Code<'a> {
    mnemonics: Vec<&'a str>,
    loops: Vec<Range<usize>>,
}

impl<'a> Code<'a> {
    /// Labels stand at the beginning of a line, instructions behind a tab, their bytes behind a semicolon.
    pub fn new(assembly: &'a str) -> Code<'a> {
        let mut mnemonics = Vec::new();
        let mut labels = HashMap::new();
        let mut loops = BTreeMap::new(); // by where they begin: the last jump back ends a loop
        for line in assembly.lines() {
            if let Some(label) = line.strip_suffix(':') {
                labels.insert(label, mnemonics.len());
            }
            let Some(instruction) = line.strip_prefix('\t') else { continue };
            let mut words = instruction.split_whitespace();
            mnemonics.extend(words.next());
            if let Some(&begin) = words.next().and_then(|operand| labels.get(operand)) {
                loops.insert(begin, mnemonics.len());
            }
        }
        Code { mnemonics, loops: loops.into_iter().map(|(begin, end)| begin..end).collect() }
    }

    /// Those of the main loop, the innermost that loads most, for each pack that it loads, whole or as four words.
    pub fn main_loop_for_each_load(&self) -> Option<u64> {
        let of_words = || self.main_loop(&WORD_LOADS).map(|(len, words)| per(4 * len, words));
        self.main_loop(&LOADS).map(|(len, packs)| per(len, packs)).or_else(of_words)
    }

    /// All of them for each pack that is loaded.
    pub fn whole_for_each_load(&self) -> Option<u64> {
        self.whole_for_each(&LOADS)
    }

    /// All of them for each pack that is stored.
    pub fn whole_for_each_store(&self) -> Option<u64> {
        self.whole_for_each(&STORES)
    }

    fn whole_for_each(&self, moves: &[&str]) -> Option<u64> {
        let all = 0..self.mnemonics.len();
        let count = self.count(&all, moves);
        (count > 0).then(|| per(all.len(), count))
    }

    /// The instructions of the main loop, and how many of them are such moves.
    fn main_loop(&self, moves: &[&str]) -> Option<(usize, usize)> {
        let moving: Vec<_> = self.loops.iter().filter(|own| self.count(own, moves) > 0).collect();
        let within =
            |inner: &Range<usize>, own: &Range<usize>| inner != own && own.start <= inner.start && inner.end <= own.end;
        let innermost = moving.iter().filter(|own| !moving.iter().any(|inner| within(inner, own)));
        let main = innermost.rev().max_by_key(|own| self.count(own, moves))?; // the first of several
        Some((main.len(), self.count(main, moves)))
    }

    fn count(&self, within: &Range<usize>, moves: &[&str]) -> usize {
        self.mnemonics[within.clone()].iter().filter(|own| moves.contains(own)).count()
    }
}

fn per(len: usize, count: usize) -> u64 {
    ((len + count / 2) / count) as u64
}

#[test]
fn the_main_loop_is_the_innermost_that_loads_most() {
    let assembly = "BB0:
\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen ; e0381000 80041814
BB1:
\ts_mov_b32 s0, s1
BB2:
\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen ; e0381000 80041814
\ts_cbranch_scc1 BB4 ; bf850005
\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen ; e0381000 80041814
\ts_cbranch_scc1 BB2 ; bf850005
BB3:
\tv_mov_b32_e32 v0, 0
\ts_branch BB2 ; bf820001
BB4:
\tbuffer_store_dwordx4 v[0:3], v4, s[0:3], 0 offen
\ts_cbranch_scc1 BB1
\ts_endpgm
";
    let figures = |assembly: &str| {
        let code = Code::new(assembly);
        (code.main_loop_for_each_load(), code.whole_for_each_load(), code.whole_for_each_store())
    };
    assert_eq!(figures(assembly), (Some(3), Some(4), Some(11)));
    let words = assembly.replace("load_dwordx4", "load_dword");
    assert_eq!(figures(&words), (Some(12), None, Some(11)));
    assert_eq!(figures(&words.replace("dword", "ubyte")), (None, None, None));
}
