//! Packs along rows: an operand's pack that begins with an element, of a splat the element in every place.

use super::shared::{begin, declared, edge_pack, folding, operand_packs};
use crate::DType;
use crate::shader::{FIRST_OPERAND, MaxOperands};

/// `pack` and its number is an operand's pack that begins with an element; of a splat it is the element in every place. `edge`
/// is one that is not wholly wanted, and may lie partly outside the binding. Of those that are paired it is said where their words
/// are bound.
pub fn pack_operands(dtype: DType, operands: MaxOperands, bindings: &[(u32, u32)]) -> String {
    let MaxOperands { of_rows, shifted, .. } = operands;
    let is_splat = |n: &u32| of_rows >> n & 1 == 1;
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
    let runs: Vec<u32> = operands.numbers().filter(|n| !is_splat(n)).collect();
    let begun = runs.len() < operands.numbers().len();
    let straddling = operands.numbers().map(straddling);
    begin(operands)
        + &ends(&paired)
        + &operands.numbers().map(packs).collect::<String>()
        + &walk(&runs, shifted)
        + &folding(
            "fold_splats(at: Addresses)",
            false,
            operands.numbers().filter(is_splat).map(|n| format!("pack{n}(at[{n}])")),
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
