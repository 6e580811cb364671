//! The only generated text: the declarations of a Max kernel's operands, and how they are folded, one line each, since
//! WGSL has no arrays of bindings.

use crate::DType;

/// The binding of a Max kernel's first operand; 0 holds the parameters and 1 the output.
pub(crate) const FIRST_OPERAND: u32 = 2;

pub(super) fn pack_operands(dtype: DType, operands: u32, splats: u32) -> String {
    let mut declarations = format!("\nconst OPERANDS = {operands}u;\n");
    let mut addresses = String::new();
    let mut runs = String::new();
    let mut constants = String::new();
    for n in 0..operands {
        let is_splat = splats >> n & 1 == 1;
        let is_first = if is_splat { constants.is_empty() } else { splats == 0 && runs.is_empty() };
        let fold = |pack: String| match is_first {
            true => format!("    m = maxima_of({pack});\n"),
            false => format!("    m = fold(m, {pack});\n"),
        };
        let element = if is_splat { "u32" } else { "BoundPack" };
        declarations += &operand(n, element);
        match (is_splat, dtype.bytes() == 8) {
            (false, _) => {
                addresses += &format!("    packs[{n}] /= PACK_ELEMENTS;\n");
                runs += &fold(format!("words_of(operand{n}[packs[{n}] + column])"));
            }
            (true, false) => {
                constants += &fold(format!("splat(operand{n}[at[{n}] / LANES], at[{n}] % LANES)"));
            }
            (true, true) => {
                constants +=
                    &format!("    let e{n} = vec2<u32>(operand{n}[2u * at[{n}]], operand{n}[2u * at[{n}] + 1u]);\n");
                constants += &fold(format!("vec4<u32>(e{n}, e{n})"));
            }
        }
    }
    format!(
        "{declarations}{}
fn fold_splats(at: Addresses) -> Maxima {{
    var m = no_maxima();
{constants}    return m;
}}
fn pack_addresses(at: Addresses) -> Addresses {{
    var packs = at;
{addresses}    return packs;
}}
fn fold_runs(before: Maxima, packs: Addresses, column: u32) -> Maxima {{
    var m = before;
{runs}    return m;
}}
",
        longest_operand(operands)
    )
}

pub(super) fn element_operands(dtype: DType, operands: u32) -> String {
    let mut declarations = format!("\nconst OPERANDS = {operands}u;\n");
    let mut folds = String::new();
    for n in 0..operands {
        declarations += &operand(n, "u32");
        folds += &format!("    let e{n} = at[{n}] + column * params.operands[{n}].row_stride;\n");
        let (elements, element) = match dtype.bytes() {
            8 => (
                format!("arrayLength(&operand{n}) / 2u"),
                format!("key_of(vec2<u32>(operand{n}[2u * e{n}], operand{n}[2u * e{n} + 1u]))"),
            ),
            _ => (
                format!("arrayLength(&operand{n}) * LANES"),
                format!("word_key(operand{n}[e{n} / LANES], e{n} % LANES)"),
            ),
        };
        folds += &format!("    if (!BOUNDS_CHECKED || e{n} < {elements}) {{ key = key_max(key, {element}); }}\n");
    }
    format!(
        "{declarations}{}
fn fold_elements(at: Addresses, column: u32) -> Key {{
    var key = least_key();
{folds}    return key;
}}
",
        longest_operand(operands)
    )
}

/// What asks for all lengths: see `lib/grid.wgsl`.
fn longest_operand(operands: u32) -> String {
    let longer = |lengths: String, n| format!("max({lengths}, arrayLength(&operand{n}))");
    let longest = (0..operands).fold("0u".to_string(), longer);
    format!("fn longest_operand() -> u32 {{ return {longest}; }}\n")
}

fn operand(n: u32, element: &str) -> String {
    format!("@group(0) @binding({}) var<storage, read> operand{n}: array<{element}>;\n", FIRST_OPERAND + n)
}
