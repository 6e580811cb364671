//! What several kernels of Max are made of.

use crate::DType;
use crate::shader::{FIRST_OPERAND, MaxOperands};

/// Binds an operand, and reads a pack of it.
pub(super) fn operand_packs(dtype: DType, n: u32, is_splat: bool, is_shifted: bool) -> String {
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

/// What all kernels of Max begin with: how many operands there are, what asks for all lengths (see `lib/grid.wgsl`, Lengths), where each
/// operand begins, and where it goes on. SwiftShader pays for loops over operands.
pub(super) fn begin(operands: MaxOperands) -> String {
    let longer = |lengths: String, n| format!("max({lengths}, arrayLength(&operand{n}))");
    let numbers = || operands.numbers();
    let longest = numbers().fold("0u".to_string(), longer);
    let each = |none: &str, own: &dyn Fn(u32) -> String| match operands.count {
        0 => none.to_string(),
        _ => numbers().map(own).collect::<Vec<_>>().join(", "),
    };
    let moves =
        |by: &dyn Fn(u32) -> String| numbers().map(|n| format!("    own[{n}] += {};\n", by(n))).collect::<String>();
    format!(
        "
const OPERANDS = {}u;
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
        numbers().len(),
        each("0u", &|n| format!("params.operands[{n}].start")),
        each("vec3<u32>(0u)", &|n| format!("params.operands[{n}].steps")),
        moves(&|n| format!("step_of(steps[{n}], ends_x, ends_y)")),
        moves(&|n| format!("places * params.operands[{n}].strides[d / 4u][d % 4u]")),
    )
}

/// A function that folds packs, onto those `before` where there are any.
pub(super) fn folding(signature: &str, begun: bool, packs: impl Iterator<Item = String>) -> String {
    let before = begun.then(|| "before".to_string());
    format!("fn {signature} -> Maxima {{ return {}; }}\n", folded(before, packs))
}

/// The maxima of packs, and of what was folded before.
pub(super) fn folded(before: Option<String>, packs: impl Iterator<Item = String>) -> String {
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

/// An operand as it is bound.
pub(super) fn declared(binding: u32, n: u32, element: &str) -> String {
    format!("@group(0) @binding({binding}) var<storage, read> operand{n}: array<{element}>;\n")
}

/// A pack at an edge, parts of which may lie outside the binding.
pub(super) fn edge_pack(dtype: DType, n: u32, words: u32) -> String {
    format!("fn edge{n}(e: u32) -> vec4<u32> {{ {} }}\n", shifted_pack(dtype, words, true))
}
