//! Generated text: how bunches of short rows are reduced and stored. Which element of which pack belongs to which row is written out,
//! since no loop over elements is as fast.

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
        operator: Operator::ArgMax,
        epilogue: Epilogue::Ones,
        block: RowBlock::row(len),
        rows: dtype.pack_elements(),
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
        match self.own.operator {
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

    /// Stores the maxima of rows.
    fn values(&self) -> String {
        let (k, lanes, pack) = (self.k, self.own.dtype.lanes(), self.own.dtype.pack_elements());
        let store = |(q, rows): (u64, Range<u64>)| {
            if self.stores == Stores::Packs {
                return format!("    store_values(first + {}u, pack_of(row_maxima_{k}_{q}(bunch)));\n", q * pack);
            }
            let units = (rows.start - self.rows.start) / lanes..(rows.end - self.rows.start).div_ceil(lanes);
            let unit = |u| format!("    store_unit(first / LANES + {u}u, pack_unit(pack{q}, {}u));\n", u - units.start);
            let stored = units.clone().map(unit).collect::<String>();
            format!("    let pack{q} = pack_of(row_maxima_{k}_{q}(bunch));\n{stored}")
        };
        format!(
            "fn store_part_{k}(first: u32, place: BunchPlace) {{
    var bunch = bunch_{k}(place);
{}{}}}
",
            self.runs(|_, place| format!("bunch = joined_{k}(bunch, {place});")),
            self.result_packs().map(store).collect::<String>()
        )
    }

    /// The rows whose results fill a pack, or the last of one, numbered.
    fn result_packs(&self) -> impl Iterator<Item = (u64, Range<u64>)> {
        let (rows, pack) = (self.rows.clone(), self.own.dtype.pack_elements());
        let packs = (0..).zip(self.rows.clone().step_by(pack as usize));
        packs.map(move |(q, first)| (q, first..rows.end.min(first + pack)))
    }

    /// The maxima of packs, and of rows.
    fn maxima(&self) -> String {
        let k = self.k;
        let member = if self.keeps_packs() { "vec4<u32>" } else { "Maxima" };
        let members = each(self.distinct_packs(), |n| format!("m{n}: {member}"));
        let packs: String = self.packs().map(|n| self.pack(n)).collect();
        format!(
            "struct Bunch{k} {{ {members} }}
fn bunch_{k}(place: BunchPlace) -> Bunch{k} {{
{packs}{}}}
fn joined_{k}(b: Bunch{k}, place: BunchPlace) -> Bunch{k} {{
{packs}{}}}
{}",
            self.joined(true),
            self.joined(false),
            self.result_packs().map(|(q, rows)| self.row_maxima(q, &rows)).collect::<String>()
        )
    }

    /// Joins packs whose elements belong to the same rows, to those of the runs before if this is not the first one: one statement after
    /// another, since compilers bound how deep calls are nested.
    fn joined(&self, is_first: bool) -> String {
        let as_it_is = |n| is_first && self.keeps_packs() && self.alike.iter().filter(|&&own| own == n).count() == 1;
        let begin = |n| match (is_first, self.keeps_packs()) {
            (true, _) if as_it_is(n) => format!("p{n}"),
            (true, _) => format!("maxima_of(p{n})"),
            (false, true) => format!("fold(maxima_of(b.m{n}), p{n})"),
            (false, false) => format!("fold(b.m{n}, p{n})"),
        };
        let join = |(n, &first): (u64, &u64)| match first == n {
            true => format!("    var m{n} = {};\n", begin(n)),
            false => format!("    m{first} = fold(m{first}, p{n});\n"),
        };
        let member = |n| if self.keeps_packs() && !as_it_is(n) { format!("pack_of(m{n})") } else { format!("m{n}") };
        let joined = self.packs().zip(&self.alike).map(join).collect::<String>();
        format!("{joined}    return Bunch{}({});\n", self.k, each(self.distinct_packs(), member))
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

    /// Of some rows, as if of a pack of results: fewer have the first of them again.
    fn row_maxima(&self, q: u64, rows: &Range<u64>) -> String {
        let text = self.maxima_of_rows(rows);
        format!("fn row_maxima_{0}_{q}(b: Bunch{0}) -> Maxima {{\n{text}}}\n", self.k)
    }

    fn maxima_of_rows(&self, rows: &Range<u64>) -> String {
        let lanes = self.own.dtype.lanes();
        let row = |word, lane| rows.start + (word * lanes + lane) % (rows.end - rows.start);
        if self.is_wide() {
            let key = |(n, _, c)| format!("vec2<u32>(b.m{n}.low.{c}, b.m{n}.high.{c})");
            let (first, second) = (row(0, 0), row(1, 0));
            let maxima = self.row_folds(rows, "r", "key_max", key);
            return format!(
                "{maxima}    return Maxima(vec2<u32>(r{first}.x, r{second}.x), vec2<u32>(r{first}.y, r{second}.y));\n"
            );
        }
        let lane_of = |name, lane| format!("vec4<i32>({})", each(0..4, |word| format!("{name}{}", row(word, lane))));
        if self.keeps_packs() {
            let keys = self.distinct_packs().map(|n| self.left_keys(n)).collect::<String>();
            let maxima = self.row_folds(rows, "r", "max", |(n, l, c)| format!("k{n}_{l}.{c}"));
            let placed = each(0..lanes, |lane| format!("placed_lane({}, {lane}u)", lane_of("r", lane)));
            return format!("{keys}{maxima}    return Maxima({placed});\n");
        }
        let greatest = self.row_folds(rows, "g", "max", |(n, l, c)| format!("b.m{n}.lane{l}.greatest.{c}"));
        let least = self.row_folds(rows, "s", "min", |(n, l, c)| format!("b.m{n}.lane{l}.shifted_least.{c}"));
        let extremes = each(0..lanes, |lane| format!("Extremes({}, {})", lane_of("g", lane), lane_of("s", lane)));
        format!("{greatest}{least}    return Maxima({extremes});\n")
    }

    /// The elements of each row, folded.
    fn row_folds(
        &self,
        rows: &Range<u64>,
        name: &str,
        fold: &str,
        element: impl Fn((u64, u64, char)) -> String,
    ) -> String {
        let join = |all: String, own| format!("{fold}({all}, {own})");
        let is_distinct = |&(n, _, _): &(u64, u64, char)| self.alike[(n - self.packs().start) as usize] == n;
        let row = |row| self.elements(row).filter(is_distinct).map(&element).reduce(join).unwrap_or_default();
        rows.clone().map(|n| format!("    let {name}{n} = {};\n", row(n))).collect()
    }

    /// The keys of a pack, which are integers, by lanes, each moved to the top of its word.
    fn left_keys(&self, n: u64) -> String {
        let bits = |lane| (self.own.dtype.lanes() - 1 - lane) * self.own.dtype.bytes() * 8;
        let lane = |lane| match bits(lane) {
            0 => format!("    let k{n}_{lane} = k{n};\n"),
            bits => format!("    let k{n}_{lane} = k{n} * (1i << {bits}u);\n"),
        };
        let lanes = (0..self.own.dtype.lanes()).map(lane).collect::<String>();
        format!("    let k{n} = left_keys(b.m{n});\n{lanes}")
    }

    /// The winner of each row, and where that is stored.
    fn winners(&self) -> String {
        let k = self.k;
        let members = each(self.rows.clone(), |row| format!("r{row}: Found"));
        let none = each(self.rows.clone(), |_| "NOTHING_FOUND".to_string());
        let offered = self.packs().map(|n| self.ties(n) + &self.offers(n)).collect::<String>();
        let keys = |text: String| if self.stores_keys() { text } else { String::new() };
        let step = |n: &str, place: &str| {
            let joined = keys(format!("\n        bunch = joined_{k}(bunch, {place});"));
            format!("winners = offered_{k}(winners, {place}, {n} * ROW_LEN);{joined}")
        };
        format!(
            "struct Winners{k} {{ {members} }}
fn offered_{k}(before: Winners{k}, place: BunchPlace, at: u32) -> Winners{k} {{
    var w = before;
{offered}    return w;
}}
fn store_part_{k}(first: u32, place: BunchPlace) {{
    var winners = offered_{k}(Winners{k}({none}), place, 0u);
{}{}    store_winners_{k}(first, winners{});
}}
fn store_winners_{k}(first: u32, w: Winners{k}{}) {{
{}}}
",
            keys(format!("    var bunch = bunch_{k}(place);\n")),
            self.runs(step),
            keys(self.result_packs().map(|(q, _)| format!(", row_maxima_{k}_{q}(bunch)")).collect()),
            keys(self.result_packs().map(|(q, _)| format!(", m{q}: Maxima")).collect()),
            self.storing()
        )
    }

    /// Offers a pack's elements to their rows, before the next pack is loaded: few of them are known at once.
    fn offers(&self, n: u64) -> String {
        let (pack, own) = (self.own.dtype.pack_elements(), self.own.elements_of(&self.rows));
        let offer = |e: u64| {
            let (row, at) = self.own.place(e);
            format!("    w.r{row} = offered(w.r{row}, {}, at + {at}u);\n", self.tie(e))
        };
        (n * pack..(n + 1) * pack).filter(|e| own.contains(e)).map(offer).collect()
    }

    /// The ties of a pack's elements, by lanes; of a wide type by elements.
    fn ties(&self, n: u64) -> String {
        let pack = self.pack(n);
        if self.is_wide() {
            let tie = |c| format!("    let t{n}_0{c} = tie_key(vec2<u32>(k{n}.low.{c}, k{n}.high.{c}));\n");
            return format!("{pack}    let k{n} = maxima_of(p{n});\n{}{}", tie('x'), tie('y'));
        }
        let tie = |lane| format!("    let t{n}_{lane} = ties_of(words_bits(p{n}, {lane}u));\n");
        pack + &(0..self.own.dtype.lanes()).map(tie).collect::<String>()
    }

    /// The tie of an element.
    fn tie(&self, e: u64) -> String {
        let (pack, lanes) = (self.own.dtype.pack_elements(), self.own.dtype.lanes());
        let dot = if self.is_wide() { "" } else { "." };
        format!("t{}_{}{dot}{}", e / pack, e % lanes, component(e % pack / lanes))
    }

    /// Writes ones and zeros, each pack as soon as its rows' winners are known: few of them are at once.
    fn ones(&self) -> String {
        let (own, packs) = (&self.own, self.packs());
        let known = |n: u64| packs.clone().filter(move |&k| self.last_needed(k) == n);
        let store = |k| format!("    store_ones(p + {k}u, {});\n", own.ones(k));
        let step = |n| self.ties(n) + &self.first_offers(n) + &known(n).map(store).collect::<String>();
        format!(
            "fn store_part_{}(first: u32, place: BunchPlace) {{\n    let p = first * ROW_LEN / PACK_ELEMENTS;\n{}}}\n",
            self.k,
            packs.clone().map(step).collect::<String>()
        )
    }

    /// The last pack that has to do with the winners of pack number k.
    fn last_needed(&self, k: u64) -> u64 {
        let (pack, block) = (self.own.dtype.pack_elements(), self.own.block.elements());
        let (of_all, last) = (self.own.block.columns * self.own.block.turn, (k + 1) * pack - 1);
        // Of the last block that it has elements of, the greatest column that one of its elements lies in.
        let begin = (last / block * block).max(k * pack);
        let column = (begin..=last).map(|e| e % block % of_all / self.own.block.turn).max().unwrap_or(0);
        (last / block * block + block - of_all + (column + 1) * self.own.block.turn - 1) / pack
    }

    /// Offers a pack's elements to their rows, of which each has one run. What is offered first has won so far.
    fn first_offers(&self, n: u64) -> String {
        let (pack, len) = (self.own.dtype.pack_elements(), self.own.block.len);
        let offer = |e: u64| {
            let ((row, at), tie) = (self.own.place(e), self.tie(e));
            let offered = match at {
                0 => format!("    var r{row} = first_found({tie});\n"),
                _ => format!("    r{row} = offered(r{row}, {tie}, {at}u);\n"),
            };
            let known = format!("    let w{row} = index_word(found_best(r{row}, LEAST_KEY), 0u);\n");
            if at + 1 == len { offered + &known } else { offered }
        };
        (n * pack..(n + 1) * pack).map(offer).collect()
    }

    /// Stores positions, whole packs of them.
    fn position_packs(&self) -> String {
        let rows = self.rows.end - self.rows.start;
        let (at_once, name) = if rows.is_multiple_of(4) { (4, "store_positions") } else { (2, "store_two_positions") };
        let position = |row| format!("index_word(found_best(w.r{row}, LEAST_KEY), 0u)");
        let store = |n: u64| {
            let first = self.rows.start + n;
            let positions = each(first..first + at_once, position);
            format!("    {name}(first + {n}u, vec{at_once}<u32>({positions}));\n")
        };
        (0..rows).step_by(at_once as usize).map(store).collect()
    }

    fn storing(&self) -> String {
        if self.stores == Stores::Packs {
            return self.position_packs();
        }
        let (lanes, unit_lanes) = (self.own.dtype.lanes(), self.own.lanes());
        let keys = |(q, _)| -> String {
            (0..lanes).map(|lane| format!("    let k{q}_{lane} = lane_maxima(m{q}, {lane}u);\n")).collect()
        };
        let has_lanes = self.stores_keys() && !self.is_wide();
        let mut text: String = if has_lanes { self.result_packs().map(keys).collect() } else { String::new() };
        for unit in 0..(self.rows.end - self.rows.start) / unit_lanes {
            let store = |units: String, lane| {
                let n = unit * unit_lanes + lane;
                let (q, within) = (n / self.own.dtype.pack_elements(), n % self.own.dtype.pack_elements());
                let key = match (self.stores_keys(), self.is_wide()) {
                    (false, _) => "LEAST_KEY".to_string(),
                    (true, true) => format!("element_maximum(m{q}, {within}u)"),
                    (true, false) => format!("k{q}_{}.{}", within % lanes, component(within / lanes)),
                };
                let row = self.rows.start + n;
                format!("store_lane({units}, {lane}u, first + {n}u, found_best(w.r{row}, {key}))")
            };
            let stored = (0..unit_lanes).fold("empty_unit()".to_string(), store);
            text += &format!("    store_unit(first / LANES + {unit}u, {stored});\n");
        }
        text
    }
}

/// What is made of each pack, or of each row.
fn each(all: impl Iterator<Item = u64>, text: impl FnMut(u64) -> String) -> String {
    all.map(text).collect::<Vec<_>>().join(", ")
}
