//! No file of `src` imports itself by way of others: it can be read, tested and replaced without what comes after it.
//!
//! A name belongs to the file that it is written in. A `mod.rs` that only re-exports it stands for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};

/// A module's path within the crate, which has none.
type Module = Vec<String>;

fn child(module: &[String], name: &str) -> Module {
    module.iter().map(String::as_str).chain([name]).map(String::from).collect()
}

/// What a file names of this crate.
#[derive(Default)]
struct Names {
    /// From `use` and within paths, as they stand there.
    used: Vec<Vec<String>>,
    /// Under which name others find it here, for each re-export.
    exported: BTreeMap<String, Vec<String>>,
}

impl Names {
    fn read(path: &Path) -> Names {
        let mut names = Names::default();
        names.visit_file(&syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap());
        names
    }

    /// Every path of a `use`, with the name that it has here.
    fn paths(tree: &syn::UseTree, before: &[String], found: &mut Vec<(Vec<String>, String)>) {
        let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => Names::paths(&path.tree, &with(&path.ident), found),
            syn::UseTree::Name(name) => found.push((with(&name.ident), name.ident.to_string())),
            syn::UseTree::Rename(name) => found.push((with(&name.ident), name.rename.to_string())),
            syn::UseTree::Glob(_) => found.push((before.to_vec(), "*".into())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| Names::paths(tree, before, found)),
        }
    }
}

impl Visit<'_> for Names {
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        let mut found = Vec::new();
        Names::paths(&item.tree, &[], &mut found);
        match item.vis {
            syn::Visibility::Inherited => self.used.extend(found.into_iter().map(|(path, _)| path)),
            _ => self.exported.extend(found.into_iter().map(|(path, name)| (name, path))),
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if ["crate", "super"].contains(&segments[0].as_str()) {
            self.used.push(segments);
        }
        visit::visit_path(self, path);
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

/// The file that what this path names is written in, seen from a module. None where it is not of this crate.
fn file_of(path: &[String], from: &Module, modules: &BTreeMap<Module, Names>, passed: usize) -> Option<Module> {
    let supers = path.iter().take_while(|segment| *segment == "super").count();
    let (mut module, mut rest) = match path[0].as_str() {
        "crate" => (vec![], &path[1..]),
        "self" => (from.clone(), &path[1..]),
        "super" => (from[..from.len() - supers].to_vec(), &path[supers..]),
        first if modules.contains_key(&child(from, first)) => (from.clone(), path),
        _ => return None,
    };
    while let [first, others @ ..] = rest
        && modules.contains_key(&child(&module, first))
    {
        (module, rest) = (child(&module, first), others);
    }
    let exported = rest.first().and_then(|name| modules[&module].exported.get(name));
    let private = rest.first().and_then(|name| modules[&module].used.iter().find(|path| path.last() == Some(name)));
    let through = exported.or(private).filter(|_| passed < modules.len());
    through.and_then(|path| file_of(path, &module, modules, passed + 1)).or(Some(module))
}

/// Adds the modules that this one comes to, each after all that it comes to itself; or the way back to where one was.
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
    let imported = |(module, names): (&Module, &Names)| {
        let files = names.used.iter().filter_map(|path| file_of(path, module, &modules, 0));
        (module.clone(), files.filter(|file| file != module).collect())
    };
    let imports: BTreeMap<Module, BTreeSet<Module>> = modules.iter().map(imported).collect();
    let count: usize = imports.values().map(BTreeSet::len).sum();
    assert!(count > 3 * modules.len(), "{count} imports of {} files: not all were read", modules.len());
    let mut done = BTreeSet::new();
    for module in modules.keys() {
        follow(module, &imports, &mut vec![], &mut done).unwrap();
    }
}
