//! Elements one by one, and what columns have in every row.

use super::shared::{begin, declared, folding};
use crate::DType;
use crate::shader::{FIRST_OPERAND, MaxOperands};

pub fn element_operands(dtype: DType, operands: MaxOperands) -> String {
    let own = |n| {
        let elements = match dtype.bytes() {
            8 => format!("arrayLength(&operand{n}) / 2u"),
            _ => format!("arrayLength(&operand{n}) * LANES"),
        };
        format!("    if (!BOUNDS_CHECKED || at[{n}] < {elements}) {{ {} }}\n", joined_element(dtype, n))
    };
    let declarations = operands.numbers().map(|n| declared(FIRST_OPERAND + n, n, "u32")).collect::<String>();
    begin(operands) + &declarations + &fold_elements(operands.numbers().map(own))
}

/// `fold_elements` is what those of columns have at an element, and `fold_runs` a pack of the others, joined to what is known.
pub fn column_operands(dtype: DType, operands: MaxOperands) -> String {
    let is_of_columns = |n: &u32| operands.of_columns >> n & 1 == 1;
    let declaration = |n| declared(FIRST_OPERAND + n, n, if is_of_columns(&n) { "u32" } else { "BoundPack" });
    let element = |n| format!("    {}\n", joined_element(dtype, n));
    let pack = |n| format!("words_of(operand{n}[addresses[{n}] / PACK_ELEMENTS + i])");
    begin(operands)
        + &operands.numbers().map(declaration).collect::<String>()
        + &fold_elements(operands.numbers().filter(is_of_columns).map(element))
        + &folding(
            "fold_runs(before: Maxima, addresses: Addresses, i: u32)",
            true,
            operands.numbers().filter(|n| !is_of_columns(n)).map(pack),
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
