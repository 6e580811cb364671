//! Generated text: rows so short that as many of them as a pack has elements fill as many whole packs as a row has elements.
//! Which element of which pack belongs to which row is written out, since no loop over elements is as fast.

use std::ops::Range;

use super::kernel::Operator;
use crate::DType;

/// Reads a bunch of rows of so many elements, and what is known of each.
pub(super) fn short_rows(dtype: DType, len: u64, operator: Operator) -> String {
    let bunch = Bunch { dtype, len };
    let winners = if operator == Operator::ArgMax { bunch.winners() } else { String::new() };
    format!("const ROW_LEN = {len}u;\n{}{winners}", bunch.maxima())
}

/// Writes ones and zeros for a bunch of rows whose winners are known.
pub(super) fn short_rows_of_ones(dtype: DType, len: u64) -> String {
    let bunch = Bunch { dtype, len };
    // As many winners as are bound together.
    let at_once = if bunch.is_wide() { 2 } else { 4 };
    let winners = |q| format!("    let q{q} = winners[n / {at_once}u + {q}u];\n");
    let winner = |row| format!("    let w{row} = q{}.{};\n", row / at_once, component(row % at_once));
    let store = |k| format!("    store(p + {k}u, {});\n", bunch.ones(k));
    format!(
        "const ROW_LEN = {len}u;\nfn write_bunch(p: u32, n: u32) {{\n{}{}{}}}\n",
        (0..bunch.rows().end / at_once).map(winners).collect::<String>(),
        bunch.rows().map(winner).collect::<String>(),
        (0..len).map(store).collect::<String>()
    )
}

/// A pack's elements of rows, which lie in `len` packs.
struct Bunch {
    dtype: DType,
    len: u64,
}

impl Bunch {
    fn is_wide(&self) -> bool {
        self.dtype.bytes() == 8
    }

    /// Whether what is known of packs is their elements, in their places.
    fn keeps_packs(&self) -> bool {
        !self.is_wide() && !self.dtype.is_float()
    }

    /// The rows of a bunch.
    fn rows(&self) -> Range<u64> {
        0..self.dtype.pack_elements()
    }

    /// The elements of a row: the number of its pack, its lane and its word's component.
    fn elements(&self, row: u64) -> impl Iterator<Item = (u64, u64, char)> {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        let place = move |e: u64| (e / pack, e % lanes, component(e % pack / lanes));
        (row * self.len..(row + 1) * self.len).map(place)
    }

    /// Pack number k of ones and zeros.
    fn ones(&self, k: u64) -> String {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        let of_lane = |lane: u64| {
            let elements = (0..pack / lanes).map(|word| k * pack + word * lanes + lane);
            let winners = elements.clone().map(|e| format!("w{}", e / self.len)).collect::<Vec<_>>().join(", ");
            let positions = elements.map(|e| format!("{}u", e % self.len)).collect::<Vec<_>>().join(", ");
            match self.is_wide() {
                true => format!("ones_where(vec2<u32>({winners}), vec2<u32>({positions}))"),
                false => format!("lane_ones(vec4<u32>({winners}), vec4<u32>({positions}), {lane}u)"),
            }
        };
        (0..lanes).map(of_lane).collect::<Vec<_>>().join(" | ")
    }

    /// What is made of each pack, or of each row.
    fn each(count: u64, text: impl Fn(u64) -> String) -> String {
        (0..count).map(text).collect::<Vec<_>>().join(", ")
    }

    /// The maxima of packs, and of rows.
    fn maxima(&self) -> String {
        let member = if self.keeps_packs() { "vec4<u32>" } else { "Maxima" };
        let members = Bunch::each(self.len, |n| format!("m{n}: {member}"));
        let pack = |n| format!("bunch_pack(place, {n}u)");
        let first = Bunch::each(self.len, |n| match self.keeps_packs() {
            true => pack(n),
            false => format!("maxima_of({})", pack(n)),
        });
        let more = Bunch::each(self.len, |n| match self.keeps_packs() {
            true => format!("pack_of(fold(maxima_of(b.m{n}), {}))", pack(n)),
            false => format!("fold(b.m{n}, {})", pack(n)),
        });
        format!(
            "struct Bunch {{ {members} }}
fn bunch_at(place: BunchPlace) -> Bunch {{ return Bunch({first}); }}
fn joined_bunch(b: Bunch, place: BunchPlace) -> Bunch {{ return Bunch({more}); }}
fn row_maxima(b: Bunch) -> Maxima {{
{}}}
",
            self.row_maxima()
        )
    }

    fn row_maxima(&self) -> String {
        if self.is_wide() {
            let key =
                |row| self.greatest(row, "key_max", |(n, _, c)| format!("vec2<u32>(b.m{n}.low.{c}, b.m{n}.high.{c})"));
            let (first, second) = (key(0), key(1));
            return format!(
                "    let a = {first};\n    let c = {second};\n    return Maxima(vec2<u32>(a.x, c.x), vec2<u32>(a.y, c.y));\n"
            );
        }
        let lanes = self.dtype.lanes();
        if self.keeps_packs() {
            let of_lane = |lane| {
                let row = |word| self.greatest(word * lanes + lane, "max", |(n, l, c)| format!("k{n}_{l}.{c}"));
                format!("placed_lane(vec4<i32>({}), {lane}u)", Bunch::each(4, row))
            };
            let keys = (0..self.len).map(|n| self.left_keys(n)).collect::<String>();
            return format!("{keys}    return Maxima({});\n", Bunch::each(lanes, of_lane));
        }
        let of_lane = |lane, fold, member| {
            let row =
                |word| self.greatest(word * lanes + lane, fold, |(n, l, c)| format!("b.m{n}.lane{l}.{member}.{c}"));
            format!("vec4<i32>({})", Bunch::each(4, row))
        };
        let lane =
            |lane| format!("Extremes({}, {})", of_lane(lane, "max", "greatest"), of_lane(lane, "min", "shifted_least"));
        format!("    return Maxima({});\n", Bunch::each(lanes, lane))
    }

    /// The keys of a pack, which are integers, by lanes, each moved to the top of its word.
    fn left_keys(&self, n: u64) -> String {
        let bits = |lane| (self.dtype.lanes() - 1 - lane) * self.dtype.bytes() * 8;
        let lane = |lane| match bits(lane) {
            0 => format!("    let k{n}_{lane} = k{n};\n"),
            bits => format!("    let k{n}_{lane} = k{n} * (1i << {bits}u);\n"),
        };
        let lanes = (0..self.dtype.lanes()).map(lane).collect::<String>();
        format!("    let k{n} = left_keys(b.m{n});\n{lanes}")
    }

    /// The elements of a row, folded.
    fn greatest(&self, row: u64, fold: &str, element: impl Fn((u64, u64, char)) -> String) -> String {
        let join = |all: String, own| format!("{fold}({all}, {own})");
        self.elements(row).map(element).reduce(join).unwrap_or_default()
    }

    /// The winner of each row, and where that is stored.
    fn winners(&self) -> String {
        let rows = self.rows().end;
        let members = Bunch::each(rows, |row| format!("r{row}: Found"));
        let none = Bunch::each(rows, |_| "NOTHING_FOUND".to_string());
        format!(
            "struct Winners {{ {members} }}
fn no_winners() -> Winners {{ return Winners({none}); }}
fn offered_bunch(before: Winners, place: BunchPlace, at: u32) -> Winners {{
    var w = before;
{}    return w;
}}
fn store_winners(first: u32, w: Winners, m: Maxima) {{
{}}}
",
            (0..self.len).map(|n| self.ties(n) + &self.offers(n)).collect::<String>(),
            self.stores()
        )
    }

    /// Offers the elements of a pack to their rows, before the next pack is loaded: few of them are known at once.
    fn offers(&self, n: u64) -> String {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        let offer = |e: u64| {
            let (row, at, lane) = (e / self.len, e % self.len, e % lanes);
            let tie = self.tie_member(component(e % pack / lanes));
            format!("    w.r{row} = offered(w.r{row}, t{n}_{lane}{tie}, at + {at}u);\n")
        };
        (n * pack..(n + 1) * pack).map(offer).collect()
    }

    /// The ties of a pack's elements, by lanes; of a wide type by elements.
    fn ties(&self, n: u64) -> String {
        let pack = format!("    let p{n} = bunch_pack(place, {n}u);\n");
        if self.is_wide() {
            let tie = |c| format!("    let t{n}_0{c} = tie_key(vec2<u32>(k{n}.low.{c}, k{n}.high.{c}));\n");
            return format!("{pack}    let k{n} = maxima_of(p{n});\n{}{}", tie('x'), tie('y'));
        }
        let tie = |lane| format!("    let t{n}_{lane} = ties_of(words_bits(p{n}, {lane}u));\n");
        pack + &(0..self.dtype.lanes()).map(tie).collect::<String>()
    }

    fn tie_member(&self, component: char) -> String {
        if self.is_wide() { component.to_string() } else { format!(".{component}") }
    }

    fn stores(&self) -> String {
        let lanes = self.dtype.lanes();
        let keys = |lane| format!("    let k{lane} = lane_maxima(m, {lane}u);\n");
        let mut text: String = if self.is_wide() { String::new() } else { (0..lanes).map(keys).collect() };
        for unit in 0..self.rows().end / lanes {
            let store = |units: String, lane| {
                let row = unit * lanes + lane;
                let key = match self.is_wide() {
                    true => format!("element_maximum(m, {row}u)"),
                    false => format!("k{lane}.{}", component(unit)),
                };
                format!("store_lane({units}, {lane}u, first + {row}u, found_best(w.r{row}, {key}))")
            };
            let stored = (0..lanes).fold("empty_unit()".to_string(), store);
            text += &format!("    store_unit(first / LANES + {unit}u, {stored});\n");
        }
        text
    }
}

/// The name of a vector's component.
pub(super) fn component(n: u64) -> char {
    ['x', 'y', 'z', 'w'][n as usize % 4]
}
