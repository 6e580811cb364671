//! Generated text: the declarations of a Max kernel's operands, and how they are folded, one line each, since WGSL has no
//! arrays of bindings.

use super::short_rows::component;
use super::{FIRST_OPERAND, LONGEST_WRITTEN_ROW, MaxShortRows};
use crate::DType;

/// `pack` and its number is an operand's pack that begins with an element; of a splat it is the element in every place. `edge`
/// is one that is not wholly wanted, and may lie partly outside the binding. Of those that are paired it is said where their words
/// are bound.
pub(super) fn pack_operands(dtype: DType, operands: u32, splats: u32, shifted: u32, bindings: &[(u32, u32)]) -> String {
    let is_splat = |n: &u32| splats >> n & 1 == 1;
    let is_shifted = |n: u32| shifted >> n & 1 == 1;
    let paired: Vec<u32> = bindings.iter().map(|&(_, n)| n).collect();
    let packs = |n| match bindings.iter().find(|&&(_, paired)| paired == n) {
        Some(&(binding, _)) => paired_packs(dtype, n, binding),
        None => operand_packs(dtype, n, is_splat(&n), is_shifted(n)),
    };
    let straddling = |n| match (is_splat(&n), is_shifted(n)) {
        (true, _) => format!("joined(pack{n}(at[{n}]), pack{n}(next[{n}]), mask)"),
        (false, true) => {
            format!("joined(edge{n}(at[{n}] + column), edge{n}(next[{n}] + column - params.row_len), mask)")
        }
        (false, false) => format!("pack{n}(at[{n}] + column)"), // it runs on into the next row
    };
    let runs: Vec<u32> = (0..operands).filter(|n| !is_splat(n)).collect();
    let begun = runs.len() < operands as usize;
    let straddling = (0..operands).map(straddling);
    begin(operands)
        + &ends(&paired)
        + &(0..operands).map(packs).collect::<String>()
        + &walk(&runs, shifted)
        + &folding(
            "fold_splats(at: Addresses)",
            false,
            (0..operands).filter(is_splat).map(|n| format!("pack{n}(at[{n}])")),
        )
        + &carries(&paired)
        + &fold_runs(&runs, shifted, &paired, begun)
        + &folding("fold_straddling(at: Addresses, next: Addresses, column: u32, mask: vec4<u32>)", false, straddling)
}

/// Where runs begin, and where they go on: of an aligned operand that is the number of a pack, of a shifted one the element that it
/// begins with.
fn walk(runs: &[u32], shifted: u32) -> String {
    let is_shifted = |n: u32| shifted >> n & 1 == 1;
    let address = |&n: &u32| match is_shifted(n) {
        true => format!("    own[{n}] += column - i * PACK_ELEMENTS;\n"),
        false => format!("    own[{n}] = (at[{n}] + column) / PACK_ELEMENTS - i;\n"),
    };
    let step = |&n: &u32| format!("    own[{n}] += {};\n", if is_shifted(n) { "PACK_ELEMENTS" } else { "1u" });
    let moved = |signature, steps: String| {
        format!("fn {signature} -> Addresses {{\n    var own = at;\n{steps}    return own;\n}}\n")
    };
    moved("pack_addresses(at: Addresses, column: u32, i: u32)", runs.iter().map(address).collect())
        + &moved("next_packs(at: Addresses)", runs.iter().map(step).collect())
}

fn fold_runs(runs: &[u32], shifted: u32, paired: &[u32], begun: bool) -> String {
    let run = |&n: &u32| match shifted >> n & 1 == 1 {
        true if paired.contains(&n) => format!("pack_between(own.c{n}, next.c{n}, addresses[{n}] + i * PACK_ELEMENTS)"),
        true => format!("pack{n}(addresses[{n}] + i * PACK_ELEMENTS)"),
        false => format!("words_of(operand{n}[addresses[{n}] + i])"),
    };
    let signature = "fold_runs(before: Maxima, addresses: Addresses, i: u32, own: Carried, next: Carried)";
    folding(signature, begun, runs.iter().map(run))
}

/// Binds an operand, and reads a pack of it.
fn operand_packs(dtype: DType, n: u32, is_splat: bool, is_shifted: bool) -> String {
    let pack = match (is_splat, is_shifted) {
        (true, _) => splat(dtype, n),
        (false, true) => shifted_pack(dtype, n, false),
        (false, false) => format!("return words_of(operand{n}[e / PACK_ELEMENTS]);"),
    };
    let element = if is_splat || is_shifted { "u32" } else { "BoundPack" };
    let own = format!("fn pack{n}(e: u32) -> vec4<u32> {{ {pack} }}\n");
    let edge = if is_shifted && !is_splat { edge_pack(dtype, n, n) } else { String::new() };
    declared(FIRST_OPERAND + n, n, element) + &own + &edge
}

/// The same where packs begin anywhere, and come out of two whole ones: both packs and words are bound. Behind the last whole one
/// is `end`.
fn paired_packs(dtype: DType, n: u32, binding: u32) -> String {
    let words = u32::BITS + n; // a name that no other operand has
    let end_words = (0..4).map(|i| format!("operand{words}[min(w + {i}u, last)]")).collect::<Vec<_>>().join(", ");
    format!(
        "{}{}fn whole{n}(p: u32, end: vec4<u32>) -> vec4<u32> {{
    let count = arrayLength(&operand{n});
    return select(words_of(operand{n}[min(p, count - 1u)]), end, vec4<bool>(p >= count));
}}
fn end{n}() -> vec4<u32> {{
    let w = 4u * arrayLength(&operand{n});
    let last = arrayLength(&operand{words}) - 1u;
    return vec4<u32>({end_words});
}}
{}",
        declared(FIRST_OPERAND + n, n, "BoundPack"),
        declared(binding, words, "u32"),
        edge_pack(dtype, n, words)
    )
}

/// What is behind the last whole pack of each operand whose packs come in pairs.
fn ends(paired: &[u32]) -> String {
    of_each(paired, "Ends", 'e', "operand_ends()", |n| format!("end{n}()"))
}

/// The whole pack in which pack number i of each of these operands begins and, one ahead, the one in which it ends: that is the one
/// in which the next begins, so an invocation carries it on.
fn carries(paired: &[u32]) -> String {
    let signature = "carried_at(addresses: Addresses, i: u32, ahead: u32, ends: Ends)";
    of_each(paired, "Carried", 'c', signature, |n| {
        format!("whole{n}((addresses[{n}] + i * PACK_ELEMENTS) / PACK_ELEMENTS + ahead, ends.e{n})")
    })
}

/// A struct with a pack for each of these operands, and a function that gives it.
fn of_each(paired: &[u32], name: &str, member: char, signature: &str, pack: impl Fn(u32) -> String) -> String {
    let (mut members, mut packs) = (vec!["none: u32".to_string()], vec!["0u".to_string()]);
    members.extend(paired.iter().map(|n| format!("{member}{n}: vec4<u32>")));
    packs.extend(paired.iter().map(|&n| pack(n)));
    let (members, packs) = (members.join(", "), packs.join(", "));
    format!("struct {name} {{ {members} }}\nfn {signature} -> {name} {{ return {name}({packs}); }}\n")
}

fn edge_pack(dtype: DType, n: u32, words: u32) -> String {
    format!("fn edge{n}(e: u32) -> vec4<u32> {{ {} }}\n", shifted_pack(dtype, words, true))
}

/// What all kernels of Max begin with: how many operands there are, what asks for all lengths (see `lib/grid.wgsl`, Lengths), where each
/// operand begins, and where it goes on. SwiftShader pays for loops over operands.
fn begin(operands: u32) -> String {
    let longer = |lengths: String, n| format!("max({lengths}, arrayLength(&operand{n}))");
    let longest = (0..operands).fold("0u".to_string(), longer);
    let each = |none: &str, own: &dyn Fn(u32) -> String| match operands {
        0 => none.to_string(),
        _ => (0..operands).map(own).collect::<Vec<_>>().join(", "),
    };
    let moves =
        |by: &dyn Fn(u32) -> String| (0..operands).map(|n| format!("    own[{n}] += {};\n", by(n))).collect::<String>();
    format!(
        "
const OPERANDS = {operands}u;
fn longest_operand() -> u32 {{ return {longest}; }}
fn first_addresses() -> Addresses {{ return Addresses({}); }}
fn first_steps() -> Steps {{ return Steps({}); }}
fn moved(at: Addresses, steps: Steps, ends_x: bool, ends_y: bool) -> Addresses {{
    var own = at;
{}    return own;
}}
fn moved_along(at: Addresses, d: u32, places: u32) -> Addresses {{
    var own = at;
{}    return own;
}}
",
        each("0u", &|n| format!("params.operands[{n}].start")),
        each("vec3<u32>(0u)", &|n| format!("params.operands[{n}].steps")),
        moves(&|n| format!("step_of(steps[{n}], ends_x, ends_y)")),
        moves(&|n| format!("places * params.operands[{n}].strides[d / 4u][d % 4u]")),
    )
}

/// A function that folds packs, onto those `before` where there are any.
fn folding(signature: &str, begun: bool, packs: impl Iterator<Item = String>) -> String {
    let before = begun.then(|| "before".to_string());
    format!("fn {signature} -> Maxima {{ return {}; }}\n", folded(before, packs))
}

/// The maxima of packs, and of what was folded before.
fn folded(before: Option<String>, packs: impl Iterator<Item = String>) -> String {
    let join = |maxima: Option<String>, pack| match maxima {
        Some(maxima) => Some(format!("fold({maxima}, {pack})")),
        None => Some(format!("maxima_of({pack})")),
    };
    packs.fold(before, join).unwrap_or("no_maxima()".to_string())
}

fn splat(dtype: DType, n: u32) -> String {
    match dtype.bytes() {
        8 => format!("return vec2<u32>(operand{n}[2u * e], operand{n}[2u * e + 1u]).xyxy;"),
        _ => format!("return splat(operand{n}[e / LANES], e % LANES);"),
    }
}

/// A pack that begins with any element: four words or, of a type of several elements a word, their parts and those of the
/// word in which it ends. Of one that is `clamped`, words may lie outside the binding: it has the nearest within.
fn shifted_pack(dtype: DType, n: u32, clamped: bool) -> String {
    let first = match dtype.lanes() {
        1 => format!("{}u * e", dtype.key_words()),
        _ => "(e + PACK_ELEMENTS) / LANES - 4u".to_string(), // it may begin in front of the binding
    };
    let word = |at: &str| match clamped {
        true => format!("operand{n}[clamp(i32({at}), 0, i32(arrayLength(&operand{n})) - 1)]"),
        false => format!("operand{n}[{at}]"),
    };
    let words = (0..4).map(|i| word(&format!("w + {i}u"))).collect::<Vec<_>>().join(", ");
    let pack = match dtype.lanes() {
        1 => format!("vec4<u32>({words})"),
        _ => {
            format!("shifted(vec4<u32>({words}), {}, e % LANES)", word("(e + PACK_ELEMENTS - 1u) / LANES"))
        }
    };
    format!("let w = {first}; return {pack};")
}

/// What is read for a bunch of short rows, as many as a pack has elements.
#[derive(Clone, Copy)]
pub(super) struct ShortRows {
    pub dtype: DType,
    pub operands: u32,
    pub rows: MaxShortRows,
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
    /// For each row a part of it.
    Parts,
    One,
}

impl ShortRows {
    /// `fixed_packs` is what the operands have for every bunch of a stretch; `store_rows` puts the others beside it. `finish_stretch`
    /// stores the bunch, if there is one, in which a stretch ends and the next begins.
    pub fn text(&self) -> String {
        let mut members = vec!["none: u32".to_string()];
        let mut fixed = vec!["0u".to_string()];
        let (mut operands, mut before, mut found) = (String::new(), String::new(), String::new());
        for n in 0..self.operands {
            let bunch = self.bunch(n);
            operands += &operand_packs(self.dtype, n, bunch == Bunch::One, self.is_shifted(n));
            match bunch {
                Bunch::All => {}
                Bunch::OfRows => found += &self.row_elements(n, "r", &format!("pack{n}(at[{n}] + rows)")),
                Bunch::Parts => {
                    let pack = |e: &str| format!("pack{n}(at[{n}] + rows * {}u + {e})", self.part());
                    found += &self.part_words(n, "r", pack);
                }
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
            let packs = (0..self.operands).map(|n| self.pack(n, k));
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
            Bunch::Parts => {
                let pack = |at: &str, begin: &str| {
                    let first = format!("{at}[{n}] + (rows - {begin}) * {}u", self.part());
                    move |e: &str| self.anywhere(n, &format!("{first} + {e}"))
                };
                self.part_words(n, "r", pack("at", "begin")) + &self.part_words(n, "s", pack("next", "end"))
            }
            _ => String::new(),
        };
        let store = |k| {
            let mask = format!("first_elements(max(count, {0}u) - {0}u)", k * self.dtype.pack_elements());
            let packs = (0..self.operands).map(|n| self.seam_pack(n, k));
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
            (0..self.operands).map(elements).collect::<String>(),
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
            Bunch::Parts => (part_pack(n, "r", k), part_pack(n, "s", k)),
            Bunch::OfColumns => (format!("fixed.p{n}_{k}"), format!("next_fixed.p{n}_{k}")),
            Bunch::One => (format!("fixed.p{n}"), format!("next_fixed.p{n}")),
        };
        format!("joined({own}, {next}, m{k})")
    }

    /// Elements of a row.
    fn len(&self) -> u64 {
        u64::from(self.rows.len).clamp(2, LONGEST_WRITTEN_ROW)
    }

    /// Elements of the part of a row that operands repeat.
    fn part(&self) -> u64 {
        u64::from(self.rows.part).clamp(1, self.len())
    }

    fn bunch(&self, n: u32) -> Bunch {
        match (self.rows.of_rows >> n & 1, self.rows.of_columns >> n & 1) {
            (0, 0) if self.is_repeated(n) => Bunch::Parts,
            (0, 0) => Bunch::All,
            (1, 0) => Bunch::OfRows,
            (0, _) => Bunch::OfColumns,
            _ => Bunch::One,
        }
    }

    fn is_repeated(&self, n: u32) -> bool {
        self.rows.repeated >> n & 1 == 1
    }

    /// The elements that an operand has for a row.
    fn own_len(&self, n: u32) -> u64 {
        if self.is_repeated(n) { self.part() } else { self.len() }
    }

    fn is_shifted(&self, n: u32) -> bool {
        (self.rows.shifted | self.rows.of_columns) >> n & 1 == 1
    }

    /// What an operand has for a bunch's pack number k.
    fn pack(&self, n: u32, k: u64) -> String {
        match self.bunch(n) {
            Bunch::All => {
                format!("pack{n}(at[{n}] + rows * ROW_LEN + {}u)", k * self.dtype.pack_elements())
            }
            Bunch::OfRows => self.row_pack(n, "r", k),
            Bunch::Parts => part_pack(n, "r", k),
            Bunch::OfColumns => format!("fixed.p{n}_{k}"),
            Bunch::One => format!("fixed.p{n}"),
        }
    }

    /// An operand's parts of rows for a bunch, as whole packs of the output.
    fn part_words(&self, n: u32, name: &str, pack_at: impl Fn(&str) -> String) -> String {
        let (pack, lanes) = (self.dtype.pack_elements(), self.dtype.lanes());
        let parts = format!("{name}{n}");
        let packs =
            (0..self.part()).map(|q| format!("    let {parts}_{q} = {};\n", pack_at(&format!("{}u", q * pack))));
        // Of the output's element e.
        let source = |e: u64| e / self.len() * self.part() + e % self.len() % self.part();
        let element = |e: u64, lane: u64| match self.dtype.bytes() {
            8 => half(&parts, source(e)),
            _ => moved_lane(&parts, source(e), lane, self.dtype),
        };
        let word = |e: u64| (0..lanes).map(|lane| element(e + lane, lane)).collect::<Vec<_>>().join(" | ");
        let own = (0..self.len()).map(|k| {
            let words = (0..pack / lanes).map(|w| word(k * pack + w * lanes)).collect::<Vec<_>>().join(", ");
            format!("    let {parts}p{k} = vec4<u32>({words});\n")
        });
        packs.chain(own).collect()
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
        let packs = (0..self.own_len(n).div_ceil(pack))
            .map(|q| format!("    let q{n}_{q} = edge{n}(at[{n}] + {}u);\n", q * pack))
            .collect::<String>();
        if self.dtype.bytes() == 8 {
            return packs;
        }
        let word = |i: u64| {
            let source = |lane| (i * lanes + lane) % self.len() % self.own_len(n);
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
            let element = |e: u64| half(&format!("q{n}"), (k * 2 + e) % self.len() % self.own_len(n));
            return format!("vec4<u32>({}, {})", element(0), element(1));
        }
        let word = |c| format!("w{n}_{}", (k * 4 + c) % self.column_period());
        format!("vec4<u32>({})", (0..4).map(word).collect::<Vec<_>>().join(", "))
    }
}

/// An operand's pack number k, put together out of parts of rows.
fn part_pack(n: u32, name: &str, k: u64) -> String {
    format!("{name}{n}p{k}")
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

pub(super) fn element_operands(dtype: DType, operands: u32) -> String {
    let own = |n| {
        let elements = match dtype.bytes() {
            8 => format!("arrayLength(&operand{n}) / 2u"),
            _ => format!("arrayLength(&operand{n}) * LANES"),
        };
        format!("    if (!BOUNDS_CHECKED || at[{n}] < {elements}) {{ {} }}\n", joined_element(dtype, n))
    };
    let declarations = (0..operands).map(|n| declared(FIRST_OPERAND + n, n, "u32")).collect::<String>();
    begin(operands) + &declarations + &fold_elements((0..operands).map(own))
}

/// `fold_elements` is what those of columns have at an element, and `fold_runs` a pack of the others, joined to what is known.
pub(super) fn column_operands(dtype: DType, operands: u32, of_columns: u32) -> String {
    let is_of_columns = |n: &u32| of_columns >> n & 1 == 1;
    let declaration = |n| declared(FIRST_OPERAND + n, n, if is_of_columns(&n) { "u32" } else { "BoundPack" });
    let element = |n| format!("    {}\n", joined_element(dtype, n));
    let pack = |n| format!("words_of(operand{n}[addresses[{n}] / PACK_ELEMENTS + i])");
    begin(operands)
        + &(0..operands).map(declaration).collect::<String>()
        + &fold_elements((0..operands).filter(is_of_columns).map(element))
        + &folding(
            "fold_runs(before: Maxima, addresses: Addresses, i: u32)",
            true,
            (0..operands).filter(|n| !is_of_columns(n)).map(pack),
        )
}

fn fold_elements(joined: impl Iterator<Item = String>) -> String {
    let joined = joined.collect::<String>();
    format!("fn fold_elements(at: Addresses) -> Key {{\n    var key = least_key();\n{joined}    return key;\n}}\n")
}

/// The key with an operand's element.
fn joined_element(dtype: DType, n: u32) -> String {
    let element = match dtype.bytes() {
        8 => format!("key_of(vec2<u32>(operand{n}[2u * at[{n}]], operand{n}[2u * at[{n}] + 1u]))"),
        _ => format!("word_key(operand{n}[at[{n}] / LANES], at[{n}] % LANES)"),
    };
    format!("key = key_max(key, {element});")
}

fn declared(binding: u32, n: u32, element: &str) -> String {
    format!("@group(0) @binding({binding}) var<storage, read> operand{n}: array<{element}>;\n")
}
