//! How much a compiler has before it that first puts every function in the place of each of its calls, as Mesa's do, and only
//! then drops what constants rule out. It takes more time than the length of the text suggests: a function that is called at
//! six places, of which constants leave one, is compiled six times.

use std::collections::HashMap;

use naga::{Expression, Function, Handle, Module, Statement};

use crate::loops::each_statement;

/// The expressions of a module's entry point, with those of the functions that it calls, once for each call.
pub fn expressions(module: &Module) -> usize {
    let [entry] = &module.entry_points[..] else { panic!("{} entry points", module.entry_points.len()) };
    expressions_of(&entry.function, module, &mut HashMap::new())
}

fn expressions_of(function: &Function, module: &Module, known: &mut HashMap<Handle<Function>, usize>) -> usize {
    let is_computed = |(_, own): &(_, &Expression)| !matches!(own, Expression::Literal(_) | Expression::Constant(_));
    let mut count = function.expressions.iter().filter(is_computed).count();
    each_statement(&function.body, &mut |statement| {
        if let Statement::Call { function, .. } = *statement {
            count += match known.get(&function) {
                Some(&count) => count,
                None => {
                    let own = expressions_of(&module.functions[function], module, known);
                    known.insert(function, own);
                    own
                }
            };
        }
    });
    count
}
