//! Bunches of short rows: as many rows as a pack has elements, their packs put together out of what the operands have.

use super::shared::{begin, folded, operand_packs};
use crate::DType;
use crate::shader::text::component;
use crate::shader::{LONGEST_WRITTEN_ROW, MaxOperands};

/// What is read for a bunch of short rows, as many as a pack has elements.
#[derive(Clone, Copy)]
pub struct ShortRows {
    pub dtype: DType,
    pub operands: MaxOperands,
    /// Elements of a row.
    pub len: u32,
    /// Whether stretches of rows end within bunches.
    pub ragged: bool,
}

/// What an operand has for a bunch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bunch {
    /// An element for each of the output's.
    All,
    OfRows,
    OfColumns,
    One,
}

impl ShortRows {
    /// `fixed_packs` is what the operands have for every bunch of a stretch; `store_rows` puts the others beside it. `finish_stretch`
    /// stores the bunch, if there is one, in which a stretch ends and the next begins.
    pub fn text(&self) -> String {
        let mut members = vec!["none: u32".to_string()];
        let mut fixed = vec!["0u".to_string()];
        let (mut operands, mut before, mut found) = (String::new(), String::new(), String::new());
        for n in self.operands.numbers() {
            let bunch = self.bunch(n);
            operands += &operand_packs(self.dtype, n, bunch == Bunch::One, self.is_shifted(n));
            match bunch {
                Bunch::All => {}
                Bunch::OfRows => found += &self.row_elements(n, "r", &format!("pack{n}(at[{n}] + rows)")),
                Bunch::OfColumns => {
                    before += &self.column_words(n);
                    members.extend((0..self.len()).map(|k| format!("p{n}_{k}: vec4<u32>")));
                    fixed.extend((0..self.len()).map(|k| self.column_pack(n, k)));
                }
                Bunch::One => {
                    members.push(format!("p{n}: vec4<u32>"));
                    fixed.push(format!("pack{n}(at[{n}])"));
                }
            }
        }
        let store = |k| {
            let packs = self.operands.numbers().map(|n| self.pack(n, k));
            format!("    store(i + {k}u, {});\n", folded(None, packs))
        };
        let signature = "finish_stretch(bunch: u32, last: u32, at: Addresses, fixed: Fixed, begin: u32, end: u32)";
        let seam = if self.ragged { self.seam() } else { String::new() }; // stretches are whole bunches
        format!(
            "{}{operands}const ROW_LEN = {}u;
struct Fixed {{ {} }}
fn fixed_packs(at: Addresses) -> Fixed {{
{before}    return Fixed({});
}}
fn store_rows(i: u32, at: Addresses, rows: u32, fixed: Fixed) {{
{found}{}}}
fn {signature} {{
{seam}}}
",
            begin(self.operands),
            self.len(),
            members.join(", "),
            fixed.join(", "),
            (0..self.len()).map(store).collect::<String>()
        )
    }

    /// A bunch with rows of a stretch and of the next one, which begins with row `end`. What lies between their elements and a
    /// binding's ends is no one's.
    fn seam(&self) -> String {
        let elements = |n| match self.bunch(n) {
            Bunch::OfRows => {
                let own = self.row_elements(n, "r", &self.anywhere(n, &format!("at[{n}] + rows - begin")));
                own + &self.row_elements(n, "s", &self.anywhere(n, &format!("next[{n}] + rows - end")))
            }
            _ => String::new(),
        };
        let store = |k| {
            let mask = format!("first_elements(max(count, {0}u) - {0}u)", k * self.dtype.pack_elements());
            let packs = self.operands.numbers().map(|n| self.seam_pack(n, k));
            format!("    let m{k} = {mask};\n    store(bunch * ROW_LEN + {k}u, {});\n", folded(None, packs))
        };
        format!(
            "    if ((end % PACK_ELEMENTS != 0u) & (bunch < last)) {{
    let rows = bunch * PACK_ELEMENTS;
    let count = (end - rows) * ROW_LEN;
    let next = row_addresses(end);
    let next_fixed = fixed_packs(next);
{}{}    }}
",
            self.operands.numbers().map(elements).collect::<String>(),
            (0..self.len()).map(store).collect::<String>()
        )
    }

    /// An operand's pack that begins with an element, and may lie partly outside the binding.
    fn anywhere(&self, n: u32, e: &str) -> String {
        if self.is_shifted(n) { format!("edge{n}({e})") } else { format!("pack{n}({e})") }
    }

    /// What an operand has for pack number k of a bunch in two stretches. One that is not shifted goes on from one to the next.
    fn seam_pack(&self, n: u32, k: u64) -> String {
        let e = |at: &str, begin: &str| {
            let first = k * self.dtype.pack_elements();
            self.anywhere(n, &format!("{at}[{n}] + (rows - {begin}) * ROW_LEN + {first}u"))
        };
        let (own, next) = match self.bunch(n) {
            Bunch::All if !self.is_shifted(n) => return e("at", "begin"),
            Bunch::All => (e("at", "begin"), e("next", "end")),
            Bunch::OfRows => (self.row_pack(n, "r", k), self.row_pack(n, "s", k)),
            Bunch::OfColumns => (format!("fixed.p{n}_{k}"), format!("next_fixed.p{n}_{k}")),
            Bunch::One => (format!("fixed.p{n}"), format!("next_fixed.p{n}")),
        };
        format!("joined({own}, {next}, m{k})")
    }

    /// Elements of a row.
    fn len(&self) -> u64 {
        u64::from(self.len).clamp(2, LONGEST_WRITTEN_ROW)
    }

    fn bunch(&self, n: u32) -> Bunch {
        match (self.operands.of_rows >> n & 1, self.operands.of_columns >> n & 1) {
            (0, 0) => Bunch::All,
            (1, 0) => Bunch::OfRows,
            (0, _) => Bunch::OfColumns,
            _ => Bunch::One,
        }
    }

    fn is_shifted(&self, n: u32) -> bool {
        (self.operands.shifted | self.operands.of_columns) >> n & 1 == 1
    }

    /// What an operand has for a bunch's pack number k.
    fn pack(&self, n: u32, k: u64) -> String {
        match self.bunch(n) {
            Bunch::All => {
                format!("pack{n}(at[{n}] + rows * ROW_LEN + {}u)", k * self.dtype.pack_elements())
            }
            Bunch::OfRows => self.row_pack(n, "r", k),
            Bunch::OfColumns => format!("fixed.p{n}_{k}"),
            Bunch::One => format!("fixed.p{n}"),
        }
    }

    /// An operand's element for each row of a bunch, in every place of a word.
    fn row_elements(&self, n: u32, name: &str, pack: &str) -> String {
        let pack = format!("    let {name}{n} = {pack};\n");
        let splats = |lane| format!("    let {name}{n}_{lane} = lane_splats({name}{n}, {lane}u);\n");
        match self.dtype.lanes() {
            1 => pack,
            lanes => pack + &(0..lanes).map(splats).collect::<String>(),
        }
    }

    /// Their pack number k: of each word the row that its first element belongs to and, behind that row's end, the next.
    fn row_pack(&self, n: u32, name: &str, k: u64) -> String {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        if self.dtype.bytes() == 8 {
            let element = |e: u64| if (k * pack + e) / self.len() == 0 { "xy" } else { "zw" };
            return format!("vec4<u32>({name}{n}.{}, {name}{n}.{})", element(0), element(1));
        }
        let word = |row: u64| match lanes {
            1 => format!("{name}{n}.{}", component(row)),
            _ => format!("{name}{n}_{}.{}", row % lanes, component(row / lanes)),
        };
        let words = |row: &dyn Fn(u64) -> u64| {
            let of_word = |w| word(row(k * pack + w * lanes));
            format!("vec4<u32>({})", (0..4).map(of_word).collect::<Vec<_>>().join(", "))
        };
        let (first, last) = (|e: u64| e / self.len(), |e: u64| (e + lanes - 1) / self.len());
        let mask = |w| {
            let e = k * pack + w * lanes;
            match first(e) == last(e) {
                true => u32::MAX,
                false => (1 << ((last(e) * self.len() - e) * self.dtype.bytes() * 8)) - 1, // the bits before the next row
            }
        };
        let masks: Vec<u32> = (0..4).map(mask).collect();
        if masks == [u32::MAX; 4] {
            return words(&first);
        }
        let masks = masks.iter().map(|mask| format!("{mask}u")).collect::<Vec<_>>().join(", ");
        format!("joined({}, {}, vec4<u32>({masks}))", words(&first), words(&last))
    }

    /// The words of rows of the same elements, as far as they are different.
    fn column_words(&self, n: u32) -> String {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        let packs = (0..self.len().div_ceil(pack))
            .map(|q| format!("    let q{n}_{q} = edge{n}(at[{n}] + {}u);\n", q * pack))
            .collect::<String>();
        if self.dtype.bytes() == 8 {
            return packs;
        }
        let word = |i: u64| {
            let source = |lane| (i * lanes + lane) % self.len();
            let elements = (0..lanes).map(|lane| moved_lane(&format!("q{n}"), source(lane), lane, self.dtype));
            format!("    let w{n}_{i} = {};\n", elements.collect::<Vec<_>>().join(" | "))
        };
        packs + &(0..self.column_period()).map(word).collect::<String>()
    }

    /// The words after which they are the same again.
    fn column_period(&self) -> u64 {
        (1..=self.len()).find(|words| (words * self.dtype.lanes()).is_multiple_of(self.len())).unwrap_or(self.len())
    }

    fn column_pack(&self, n: u32, k: u64) -> String {
        if self.dtype.bytes() == 8 {
            let element = |e: u64| half(&format!("q{n}"), (k * 2 + e) % self.len());
            return format!("vec4<u32>({}, {})", element(0), element(1));
        }
        let word = |c| format!("w{n}_{}", (k * 4 + c) % self.column_period());
        format!("vec4<u32>({})", (0..4).map(word).collect::<Vec<_>>().join(", "))
    }
}

/// Element s of some packs, of 64 bits.
fn half(packs: &str, s: u64) -> String {
    format!("{packs}_{}.{}", s / 2, if s.is_multiple_of(2) { "xy" } else { "zw" })
}

/// Element s of some packs, in a lane's place of a word.
fn moved_lane(packs: &str, s: u64, lane: u64, dtype: DType) -> String {
    let (pack, lanes) = (dtype.pack_elements(), dtype.lanes());
    let word = format!("{packs}_{}.{}", s / pack, component(s % pack / lanes));
    if lanes == 1 { word } else { format!("lane_moved({word}, {}u, {lane}u)", s % lanes) }
}
