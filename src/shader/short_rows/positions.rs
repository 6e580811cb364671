//! The winners of rows, and ones and zeros.

use super::{Part, each};
use crate::shader::Stores;
use crate::shader::text::component;

impl Part {
    /// The winner of each row, and where that is stored.
    pub(super) fn winners(&self) -> String {
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
    pub(super) fn ones(&self) -> String {
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
