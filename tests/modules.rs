//! No file of `src` imports itself by way of others.
//!
//! What is counted are names: each belongs to the file that it is written in, and a `mod.rs` that only re-exports it stands for nothing. An
//! `impl` may go over several files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};

/// A module's path within the crate, which has none.
type Module = Vec<String>;

fn child(module: &[String], name: &str) -> Module {
    module.iter().map(String::as_str).chain([name]).map(String::from).collect()
}

/// What a file names.
#[derive(Default)]
struct Names {
    /// The path behind each name that a `use` gives, and whether others may take it from here.
    given: BTreeMap<String, (Vec<String>, bool)>,
    /// The paths within the code.
    paths: Vec<Vec<String>>,
}

impl Names {
    fn read(path: &Path) -> Names {
        let mut names = Names::default();
        names.visit_file(&syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap());
        names
    }

    fn add(&mut self, tree: &syn::UseTree, before: &[String], is_public: bool) {
        match tree {
            syn::UseTree::Path(path) => self.add(&path.tree, &child(before, &path.ident.to_string()), is_public),
            syn::UseTree::Name(own) => self.give(before, &own.ident, &own.ident, is_public),
            syn::UseTree::Rename(own) => self.give(before, &own.ident, &own.rename, is_public),
            syn::UseTree::Glob(_) => {
                let text = format!("{}::*", before.join("::"));
                assert!(!is_public, "pub use {text} does not say what it exports");
                self.given.insert(text, (before.to_vec(), false));
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(tree, before, is_public)),
        }
    }

    fn give(&mut self, before: &[String], ident: &syn::Ident, name: &syn::Ident, is_public: bool) {
        let (path, name) = match ident == "self" {
            true => (before.to_vec(), before[before.len() - 1].clone()),
            false => (child(before, &ident.to_string()), name.to_string()),
        };
        self.given.insert(name, (path, is_public));
    }
}

impl Visit<'_> for Names {
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.add(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &syn::Path) {
        self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// What is in a macro, or given to one, is not parsed: there names with `::` between them are a path. One that goes on with what the
    /// macro is given may be of anything in its module.
    fn visit_macro(&mut self, own: &syn::Macro) {
        let is_of_names = |c: char| c.is_alphanumeric() || "_:$".contains(c);
        let text = own.tokens.to_string().replace("::", " :: ");
        let (mut path, mut goes_on) = (Module::new(), false);
        for token in text.split(|c| !is_of_names(c)).filter(|token| !token.is_empty()) {
            match token {
                "::" => goes_on = true,
                _ if goes_on => (path, goes_on) = (child(&path, token), false),
                _ => self.paths.push(std::mem::replace(&mut path, vec![token.to_string()])),
            }
        }
        self.paths.push(path);
        self.paths.retain(|path| !path.is_empty());
    }

    /// `pub(super)` imports nothing.
    fn visit_visibility(&mut self, _: &syn::Visibility) {}

    /// Tests within a file may import what they like.
    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }
}

fn read(folder: &Path, module: &Module, modules: &mut BTreeMap<Module, Names>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_string();
        let child = child(module, &stem);
        if path.is_dir() {
            read(&path, &child, modules);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let own = if ["lib", "mod"].contains(&stem.as_str()) { module.clone() } else { child };
            modules.insert(own, Names::read(&path));
        }
    }
}

/// The most names that stand for one another.
const MOST_PASSED: usize = 16;

/// The files that what this path names is written in, seen from a module: none where it is not of this crate.
fn files_of(path: &[String], from: &Module, modules: &BTreeMap<Module, Names>, passed: usize) -> Vec<Module> {
    let supers = path.iter().take_while(|segment| *segment == "super").count();
    let (mut module, mut rest) = match path[0].as_str() {
        "crate" => (vec![], &path[1..]),
        "self" => (from.clone(), &path[1..]),
        "super" => (from[..from.len() - supers].to_vec(), &path[supers..]),
        _ => (from.clone(), path),
    };
    let is_local = rest.len() == path.len();
    while let [first, others @ ..] = rest
        && modules.contains_key(&child(&module, first))
    {
        (module, rest) = (child(&module, first), others);
    }
    let is_here = !(is_local && rest.len() == path.len());
    let given = &modules[&module].given;
    let behind = |(own, _): &(Module, bool), rest: &[String]| match passed < MOST_PASSED {
        true => files_of(&[&own[..], rest].concat(), &module, modules, passed + 1),
        false => vec![],
    };
    let found = match rest {
        [name, ..] if name.starts_with('$') => given.values().flat_map(|own| behind(own, &[])).collect(),
        [name, others @ ..] => given.get(name).map_or(vec![], |own| behind(own, others)),
        [] => vec![],
    };
    if found.is_empty() && is_here { vec![module] } else { found }
}

/// The files that a file imports: by private `use`, and by paths and public `use` where its own code has them.
fn imports(module: &Module, names: &Names, modules: &BTreeMap<Module, Names>) -> BTreeSet<Module> {
    let stands_in_code = |name: &String| names.paths.iter().any(|path| path[0] == *name);
    let given = names.given.iter().filter(|(name, (_, is_public))| !is_public || stands_in_code(name));
    let paths = given.map(|(_, (path, _))| path).chain(names.paths.iter().filter(|path| path.len() > 1));
    paths.flat_map(|path| files_of(path, module, modules, 0)).filter(|file| file != module).collect()
}

/// Follows imports from a file on; an error names the circle. Those that are `done` are in none.
fn follow(
    module: &Module,
    imports: &BTreeMap<Module, BTreeSet<Module>>,
    way: &mut Vec<Module>,
    done: &mut BTreeSet<Module>,
) -> Result<(), String> {
    if let Some(at) = way.iter().position(|other| other == module) {
        let circle = way[at..].iter().chain([module]).map(|module| format!("crate::{}", module.join("::")));
        return Err(circle.collect::<Vec<_>>().join(" imports "));
    }
    if done.contains(module) {
        return Ok(());
    }
    way.push(module.clone());
    imports[module].iter().try_for_each(|next| follow(next, imports, way, done))?;
    way.pop();
    done.insert(module.clone());
    Ok(())
}

#[test]
fn no_file_imports_itself_by_way_of_others() {
    let mut modules = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &vec![], &mut modules);
    let imports: BTreeMap<Module, BTreeSet<Module>> =
        modules.iter().map(|(module, names)| (module.clone(), imports(module, names, &modules))).collect();
    let count: usize = imports.values().map(BTreeSet::len).sum();
    assert!(count > 3 * modules.len(), "{count} imports of {} files: not all were read", modules.len());
    let mut done = BTreeSet::new();
    for module in modules.keys() {
        follow(module, &imports, &mut vec![], &mut done).unwrap();
    }
}
