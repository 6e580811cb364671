//! The maxima of rows.

use std::ops::Range;

use super::{Part, each};
use crate::shader::Stores;

impl Part {
    /// Stores the maxima of rows.
    pub(super) fn values(&self) -> String {
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

    /// The maxima of packs, and of rows.
    pub(super) fn maxima(&self) -> String {
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
}
