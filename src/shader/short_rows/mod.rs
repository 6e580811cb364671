//! Generated text: how bunches of short rows are reduced and stored. Which element of which pack belongs to which row is written out,
//! since no loop over elements is as fast.

mod maxima;
mod positions;

use std::ops::Range;

use super::bunches::Bunches;
use super::overrides::Override;
use super::program::{Epilogue, Operator, RowBlock, Stores};
use super::text::component;
use crate::DType;

impl Bunches {
    /// How bunches are reduced and stored. The text has no more than a kernel of these overrides does: compilers inline all of it before
    /// they drop anything.
    pub(super) fn text(&self, overrides: &[Override], stores: Stores) -> String {
        let has = |own| overrides.contains(&own);
        let (ragged, part_rows) = (has(Override::Ragged), self.part_rows());
        let runs = match overrides.iter().find(|own| matches!(own, Override::FewRuns(_))) {
            Some(&Override::FewRuns(runs)) => Runs::Few(runs.clamp(1, 3)),
            _ if has(Override::Runs) => Runs::Many,
            _ => Runs::Few(1),
        };
        let part = |k| {
            let rows = k * part_rows..(k + 1) * part_rows;
            let alike = self.alike_packs(&rows);
            let own = Part { own: *self, k, rows, alike, runs, pairs: ragged && has(Override::Pairs), stores };
            own.text() + &if ragged { String::new() } else { own.parts() }
        };
        let parts = (0..self.parts()).map(part).collect::<String>();
        let stored = |k| match ragged {
            false => format!("    store_parts_{k}(begin, end, first);\n"),
            true => format!("    store_part_{k}(first + {}u, place);\n", k * part_rows),
        };
        let signature = match ragged {
            false => "store_stretch(begin: u32, end: u32, first: u32)",
            true => "store_bunch(first: u32, place: BunchPlace)",
        };
        format!(
            "const ROW_LEN = {}u;
const ROW_COLUMNS = {}u;
const BUNCH_ROWS = {}u;
{parts}fn {signature} {{
{}}}
",
            self.block.len,
            self.block.columns,
            self.rows,
            (0..self.parts()).map(stored).collect::<String>(),
        )
    }
}

/// Writes ones and zeros for a bunch of rows whose winners are known.
pub(super) fn short_rows_of_ones(dtype: DType, len: u64) -> String {
    let bunch = Bunches {
        dtype,
        epilogue: Epilogue::Ones,
        block: RowBlock::row(len),
        rows: dtype.pack_elements(),
        exchanged: false,
        staged: false,
    };
    // As many winners as are bound together.
    let at_once = if dtype.bytes() == 8 { 2 } else { 4 };
    let winners = |q| format!("    let q{q} = winners[n / {at_once}u + {q}u];\n");
    let winner = |row| format!("    let w{row} = q{}.{};\n", row / at_once, component(row % at_once));
    let store = |k| format!("    store(p + {k}u, {});\n", bunch.ones(k));
    format!(
        "const ROW_LEN = {len}u;\nfn write_bunch(p: u32, n: u32) {{\n{}{}{}}}\n",
        (0..dtype.pack_elements() / at_once).map(winners).collect::<String>(),
        (0..dtype.pack_elements()).map(winner).collect::<String>(),
        (0..len).map(store).collect::<String>()
    )
}

impl Bunches {
    /// Pack number k of ones and zeros, where each row's winner is known by `w` and the row's number.
    fn ones(&self, k: u64) -> String {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        let of_lane = |lane: u64| {
            let places = (0..pack / lanes).map(|word| self.place(k * pack + word * lanes + lane));
            let winners = places.clone().map(|(row, _)| format!("w{row}")).collect::<Vec<_>>().join(", ");
            let positions = places.map(|(_, at)| format!("{at}u")).collect::<Vec<_>>().join(", ");
            match self.dtype.bytes() == 8 {
                true => format!("ones_where(vec2<u32>({winners}), vec2<u32>({positions}))"),
                false => format!("lane_ones(vec4<u32>({winners}), vec4<u32>({positions}), {lane}u)"),
            }
        };
        (0..lanes).map(of_lane).collect::<Vec<_>>().join(" | ")
    }
}

/// Part number k of a reduction's bunch: some of its rows, and the packs that they lie in.
struct Part {
    own: Bunches,
    k: u64,
    /// Counted from the bunch's first.
    rows: Range<u64>,
    /// For each pack the first one whose elements belong to the same rows, each to that of its place: of both only maxima matter.
    alike: Vec<u64>,
    runs: Runs,
    /// Whether packs begin anywhere, and come out of two whole ones.
    pairs: bool,
    stores: Stores,
}

/// How many runs a row has.
#[derive(Clone, Copy)]
enum Runs {
    /// So many, which are taken with no loop.
    Few(u32),
    Many,
}

impl Part {
    fn packs(&self) -> Range<u64> {
        self.own.packs_of(&self.rows)
    }

    fn is_wide(&self) -> bool {
        self.own.dtype.bytes() == 8
    }

    /// Whether maxima are found beside their positions: where they are stored, and ties do not tell them.
    fn stores_keys(&self) -> bool {
        self.own.epilogue == Epilogue::Both && self.own.dtype.is_float()
    }

    /// Whether what is known of packs is their elements, in their places.
    fn keeps_packs(&self) -> bool {
        !self.is_wide() && !self.own.dtype.is_float()
    }

    /// The elements of a row: the number of its pack, its lane and its word's component.
    fn elements(&self, row: u64) -> impl Iterator<Item = (u64, u64, char)> {
        let Bunches { dtype, block, .. } = self.own;
        let RowBlock { len, columns, turn } = block;
        let (pack, lanes) = (dtype.pack_elements(), dtype.lanes());
        let place = move |e: u64| (e / pack, e % lanes, component(e % pack / lanes));
        let first = row / columns * self.own.block.elements() + row % columns * turn;
        (0..len).map(move |n| place(first + n / turn * (turn * columns) + n % turn))
    }

    fn text(&self) -> String {
        match self.own.epilogue.operator() {
            _ if self.own.epilogue == Epilogue::Ones => self.ones(),
            Operator::ReduceMax => self.maxima() + &self.values(),
            Operator::ArgMax if self.stores_keys() => self.maxima() + &self.winners(),
            Operator::ArgMax => self.winners(),
        }
    }

    /// The same part of bunches that follow one another.
    fn parts(&self) -> String {
        let (k, row) = (self.k, self.rows.start);
        format!(
            "fn store_parts_{k}(begin: u32, end: u32, first: u32) {{
    var e = first;
    var bunch = begin;
    loop {{
        if (bunch >= end) {{
            break;
        }}
        store_part_{k}(bunch * BUNCH_ROWS + {row}u, BunchPlace(e, e, ROW_LEN * BUNCH_ROWS, vec4<u32>()));
        e += ROW_LEN * BUNCH_ROWS;
        continuing {{
            bunch += 1u;
            break if bunch >= end;
        }}
    }}
}}
"
        )
    }

    /// What `step` says of the run of that number and its place, for each run of rows but the first.
    fn runs(&self, step: impl Fn(&str, &str) -> String) -> String {
        let step = |n: &str| step(n, &format!("moved_by_runs(place, {n})"));
        match self.runs {
            Runs::Few(runs) => (1..runs).map(|n| format!("    {}\n", step(&format!("{n}u")))).collect(),
            Runs::Many => format!(
                "    let runs = row_runs();\n    for (var n = 1u; n < runs; n++) {{\n        {}\n    }}\n",
                step("n")
            ),
        }
    }

    /// The rows whose results fill a pack, or the last of one, numbered.
    fn result_packs(&self) -> impl Iterator<Item = (u64, Range<u64>)> {
        let (rows, pack) = (self.rows.clone(), self.own.dtype.pack_elements());
        let packs = (0..).zip(self.rows.clone().step_by(pack as usize));
        packs.map(move |(q, first)| (q, first..rows.end.min(first + pack)))
    }

    /// The packs that no other before them is alike.
    fn distinct_packs(&self) -> impl Iterator<Item = u64> {
        self.packs().zip(&self.alike).filter(|(n, first)| n == *first).map(|(n, _)| n)
    }

    /// Loads a pack. Of pairs each after the first takes one whole pack: the other is the last one's.
    fn pack(&self, n: u64) -> String {
        if !self.pairs {
            return format!("    let p{n} = bunch_pack(place, {n}u);\n");
        }
        let whole = |n| format!("    let whole{n} = whole_packs(place, {n}u);\n");
        let first = if n == self.packs().start { whole(n) } else { String::new() };
        format!("{first}{}    let p{n} = pack_between_two(place, {n}u, whole{n}, whole{});\n", whole(n + 1), n + 1)
    }
}

/// What is made of each pack, or of each row.
fn each(all: impl Iterator<Item = u64>, text: impl FnMut(u64) -> String) -> String {
    all.map(text).collect::<Vec<_>>().join(", ")
}
