//! Generated text: rows so short that a few of them fill whole packs. Which element of which pack belongs to which row is
//! written out, since no loop over elements is as fast.

use std::ops::Range;

use super::kernel::{Epilogue, LONGEST_SHORT_ROW, Operator};
use crate::DType;

/// Bunches of short rows, as a reduction takes them.
#[derive(Clone, Copy)]
pub(crate) struct Bunches {
    pub dtype: DType,
    pub operator: Operator,
    pub epilogue: Epilogue,
    /// Elements of a row.
    pub len: u64,
    /// Rows of a bunch.
    pub rows: u64,
}

/// The most packs that a bunch, or a part of one, has if it has several units of results: the text of more is longer than what
/// keeps instructions close to a core, and holds more than its registers.
pub(crate) const MOST_BUNCH_PACKS: u64 = 16;

impl Bunches {
    /// Of as many rows as are worth it, but no more than divide `stretch_rows`, if that is possible.
    pub fn new(dtype: DType, operator: Operator, epilogue: Epilogue, len: u64, stretch_rows: u64) -> Bunches {
        let mut bunches = Bunches { dtype, operator, epilogue, len, rows: 1 };
        bunches.rows = bunches.fewest_rows();
        let stretches_are_whole = stretch_rows.is_multiple_of(bunches.rows);
        let mut more = bunches.rows * 2;
        while more <= dtype.pack_elements()
            && more * len <= bunches.most_elements()
            && (stretch_rows.is_multiple_of(more) || !stretches_are_whole)
        {
            bunches.rows = more;
            more *= 2;
        }
        bunches
    }

    /// A power of two: they fill whole packs and whole units of results.
    fn fewest_rows(&self) -> u64 {
        (self.dtype.pack_elements() >> self.len.trailing_zeros()).max(self.lanes())
    }

    /// Whether a bunch is of whole packs and units, and of no more results than a pack has elements.
    pub fn are_valid(&self) -> bool {
        (2..=LONGEST_SHORT_ROW).contains(&self.len)
            && self.rows.is_power_of_two()
            && (self.fewest_rows()..=self.dtype.pack_elements()).contains(&self.rows)
    }

    /// The parts that a bunch is taken in, one after another.
    pub fn parts(&self) -> u64 {
        self.rows / self.part_rows()
    }

    fn part_rows(&self) -> u64 {
        let mut rows = self.rows;
        while rows > self.lanes() && rows * self.len > self.most_elements() {
            rows /= 2;
        }
        rows
    }

    fn most_elements(&self) -> u64 {
        let most = match self.operator {
            Operator::ReduceMax => 160,
            Operator::ArgMax => 64,
        };
        (MOST_BUNCH_PACKS * self.dtype.pack_elements()).min(most)
    }

    /// The rows whose results share a unit.
    fn lanes(&self) -> u64 {
        self.epilogue.lanes(self.dtype)
    }

    /// How bunches are reduced and stored. Of `pairs`, packs begin anywhere, and come out of two whole ones.
    pub(super) fn text(&self, pairs: bool) -> String {
        let part_rows = self.part_rows();
        let part = |k| Part { own: *self, k, rows: k * part_rows..(k + 1) * part_rows, pairs }.text();
        let stretch = |k| format!("    store_parts_{k}(begin, end, first);\n");
        let bunch = |k| format!("    store_part_{k}(first + {}u, place);\n", k * part_rows);
        let parts = 0..self.parts();
        format!(
            "const ROW_LEN = {}u;
const BUNCH_ROWS = {}u;
{}fn store_stretch(begin: u32, end: u32, first: u32) {{
{}}}
fn store_bunch(first: u32, place: BunchPlace) {{
{}}}
",
            self.len,
            self.rows,
            parts.clone().map(part).collect::<String>(),
            parts.clone().map(stretch).collect::<String>(),
            parts.map(bunch).collect::<String>(),
        )
    }
}

/// Writes ones and zeros for a bunch of rows whose winners are known.
pub(super) fn short_rows_of_ones(dtype: DType, len: u64) -> String {
    let bunch = Ones { dtype, len };
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

/// As many rows as a pack has elements, which fill `len` packs with ones and zeros.
struct Ones {
    dtype: DType,
    len: u64,
}

impl Ones {
    /// Pack number k of ones and zeros.
    fn ones(&self, k: u64) -> String {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        let of_lane = |lane: u64| {
            let elements = (0..pack / lanes).map(|word| k * pack + word * lanes + lane);
            let winners = elements.clone().map(|e| format!("w{}", e / self.len)).collect::<Vec<_>>().join(", ");
            let positions = elements.map(|e| format!("{}u", e % self.len)).collect::<Vec<_>>().join(", ");
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
    /// Whether packs begin anywhere, and come out of two whole ones.
    pairs: bool,
}

impl Part {
    /// The elements of its rows, counted in the same way.
    fn own_elements(&self) -> Range<u64> {
        self.rows.start * self.own.len..self.rows.end * self.own.len
    }

    fn packs(&self) -> Range<u64> {
        let (pack, elements) = (self.own.dtype.pack_elements(), self.own_elements());
        elements.start / pack..elements.end.div_ceil(pack)
    }

    fn is_wide(&self) -> bool {
        self.own.dtype.bytes() == 8
    }

    /// Whether what is known of packs is their elements, in their places.
    fn keeps_packs(&self) -> bool {
        !self.is_wide() && !self.own.dtype.is_float()
    }

    /// The elements of a row: the number of its pack, its lane and its word's component.
    fn elements(&self, row: u64) -> impl Iterator<Item = (u64, u64, char)> {
        let (pack, lanes) = (self.own.dtype.pack_elements(), self.own.dtype.lanes());
        let place = move |e: u64| (e / pack, e % lanes, component(e % pack / lanes));
        (row * self.own.len..(row + 1) * self.own.len).map(place)
    }

    fn text(&self) -> String {
        let (k, row) = (self.k, self.rows.start);
        let reduction = match self.own.operator {
            Operator::ReduceMax => self.maxima() + &self.values(),
            Operator::ArgMax => self.maxima() + &self.winners(),
        };
        format!(
            "{reduction}fn store_parts_{k}(begin: u32, end: u32, first: u32) {{
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
        let step = |n| step(n, &format!("moved_by_runs(place, {n})"));
        format!(
            "    if (FEW_RUNS > 1u) {{
        {}
    }}
    if (FEW_RUNS > 2u) {{
        {}
    }}
    if (RUNS && FEW_RUNS == 0u) {{
        let runs = row_runs();
        for (var n = 1u; n < runs; n++) {{
            {}
        }}
    }}
",
            step("1u"),
            step("2u"),
            step("n")
        )
    }

    /// Stores the maxima of rows.
    fn values(&self) -> String {
        let k = self.k;
        let units = (self.rows.end - self.rows.start) / self.own.dtype.lanes();
        let store = |u| format!("    store_unit(first / LANES + {u}u, pack_unit(pack, {u}u));\n");
        format!(
            "fn store_part_{k}(first: u32, place: BunchPlace) {{
    var bunch = bunch_{k}(place);
{}    let pack = pack_of(row_maxima_{k}(bunch));
{}}}
",
            self.runs(|_, place| format!("bunch = joined_{k}(bunch, {place});")),
            (0..units).map(store).collect::<String>()
        )
    }

    /// The maxima of packs, and of rows.
    fn maxima(&self) -> String {
        let k = self.k;
        let member = if self.keeps_packs() { "vec4<u32>" } else { "Maxima" };
        let members = each(self.packs(), |n| format!("m{n}: {member}"));
        let packs: String = self.packs().map(|n| self.pack(n)).collect();
        let first = each(self.packs(), |n| match self.keeps_packs() {
            true => format!("p{n}"),
            false => format!("maxima_of(p{n})"),
        });
        let more = each(self.packs(), |n| match self.keeps_packs() {
            true => format!("pack_of(fold(maxima_of(b.m{n}), p{n}))"),
            false => format!("fold(b.m{n}, p{n})"),
        });
        format!(
            "struct Bunch{k} {{ {members} }}
fn bunch_{k}(place: BunchPlace) -> Bunch{k} {{
{packs}    return Bunch{k}({first});
}}
fn joined_{k}(b: Bunch{k}, place: BunchPlace) -> Bunch{k} {{
{packs}    return Bunch{k}({more});
}}
fn row_maxima_{k}(b: Bunch{k}) -> Maxima {{
{}}}
",
            self.row_maxima()
        )
    }

    /// Loads a pack. Of pairs each after the first takes one whole pack: the other is the last one's.
    fn pack(&self, n: u64) -> String {
        if !self.pairs {
            return format!("    let p{n} = bunch_pack(place, {n}u);\n");
        }
        let whole = |n| format!("    let w{n} = whole_packs(place, {n}u);\n");
        let first = if n == self.packs().start { whole(n) } else { String::new() };
        format!("{first}{}    let p{n} = pack_between_two(place, {n}u, w{n}, w{});\n", whole(n + 1), n + 1)
    }

    /// As if of a pack of results: a part with fewer rows has the first of them again.
    fn row_maxima(&self) -> String {
        let (rows, lanes) = (&self.rows, self.own.dtype.lanes());
        let row = |word, lane| rows.start + (word * lanes + lane) % (rows.end - rows.start);
        if self.is_wide() {
            let key = |(n, _, c)| format!("vec2<u32>(b.m{n}.low.{c}, b.m{n}.high.{c})");
            let (first, second) = (row(0, 0), row(1, 0));
            let maxima = self.row_folds("r", "key_max", key);
            return format!(
                "{maxima}    return Maxima(vec2<u32>(r{first}.x, r{second}.x), vec2<u32>(r{first}.y, r{second}.y));\n"
            );
        }
        let lane_of = |name, lane| format!("vec4<i32>({})", each(0..4, |word| format!("{name}{}", row(word, lane))));
        if self.keeps_packs() {
            let keys = self.packs().map(|n| self.left_keys(n)).collect::<String>();
            let maxima = self.row_folds("r", "max", |(n, l, c)| format!("k{n}_{l}.{c}"));
            let placed = each(0..lanes, |lane| format!("placed_lane({}, {lane}u)", lane_of("r", lane)));
            return format!("{keys}{maxima}    return Maxima({placed});\n");
        }
        let greatest = self.row_folds("g", "max", |(n, l, c)| format!("b.m{n}.lane{l}.greatest.{c}"));
        let least = self.row_folds("s", "min", |(n, l, c)| format!("b.m{n}.lane{l}.shifted_least.{c}"));
        let extremes = each(0..lanes, |lane| format!("Extremes({}, {})", lane_of("g", lane), lane_of("s", lane)));
        format!("{greatest}{least}    return Maxima({extremes});\n")
    }

    /// The elements of each row, folded.
    fn row_folds(&self, name: &str, fold: &str, element: impl Fn((u64, u64, char)) -> String) -> String {
        let join = |all: String, own| format!("{fold}({all}, {own})");
        let row = |row| self.elements(row).map(&element).reduce(join).unwrap_or_default();
        self.rows.clone().map(|n| format!("    let {name}{n} = {};\n", row(n))).collect()
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
        let step = |n: &str, place: &str| {
            format!(
                "winners = offered_{k}(winners, {place}, {n} * ROW_LEN);
        if (STORES_KEYS) {{
            bunch = joined_{k}(bunch, {place});
        }}"
            )
        };
        format!(
            "struct Winners{k} {{ {members} }}
fn offered_{k}(before: Winners{k}, place: BunchPlace, at: u32) -> Winners{k} {{
    var w = before;
{offered}    return w;
}}
fn store_part_{k}(first: u32, place: BunchPlace) {{
    var winners = offered_{k}(Winners{k}({none}), place, 0u);
    var bunch = bunch_{k}(place);
{}    store_winners_{k}(first, winners, row_maxima_{k}(bunch));
}}
fn store_winners_{k}(first: u32, w: Winners{k}, m: Maxima) {{
{}}}
",
            self.runs(step),
            self.stores()
        )
    }

    /// Offers a pack's elements to their rows, before the next pack is loaded: few of them are known at once.
    fn offers(&self, n: u64) -> String {
        let (pack, lanes, own) = (self.own.dtype.pack_elements(), self.own.dtype.lanes(), self.own_elements());
        let offer = |e: u64| {
            let (row, at, lane) = (e / self.own.len, e % self.own.len, e % lanes);
            let tie = self.tie_member(component(e % pack / lanes));
            format!("    w.r{row} = offered(w.r{row}, t{n}_{lane}{tie}, at + {at}u);\n")
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

    fn tie_member(&self, component: char) -> String {
        if self.is_wide() { component.to_string() } else { format!(".{component}") }
    }

    fn stores(&self) -> String {
        let (lanes, unit_lanes) = (self.own.dtype.lanes(), self.own.lanes());
        let keys = |lane| format!("    let k{lane} = lane_maxima(m, {lane}u);\n");
        let mut text: String = if self.is_wide() { String::new() } else { (0..lanes).map(keys).collect() };
        for unit in 0..(self.rows.end - self.rows.start) / unit_lanes {
            let store = |units: String, lane| {
                let n = unit * unit_lanes + lane;
                let key = match self.is_wide() {
                    true => format!("element_maximum(m, {n}u)"),
                    false => format!("k{}.{}", n % lanes, component(n / lanes)),
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
fn each(all: Range<u64>, text: impl FnMut(u64) -> String) -> String {
    all.map(text).collect::<Vec<_>>().join(", ")
}

/// The name of a vector's component.
pub(super) fn component(n: u64) -> char {
    ['x', 'y', 'z', 'w'][n as usize % 4]
}
