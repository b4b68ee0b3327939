//! Modules of a crate import each other in layers: no large group of modules forms a cycle.
//!
//! A file imports another one if it names an item there by a path that begins with `crate`, `self`
//! or `super`, also in an attribute of serde, or by a `use` of a path that begins with the name of
//! a child. A name that a module takes from another by `use`, such as `pub use child::Item`, leads
//! to that other module. The path in a visibility such as `pub(in crate::pool)` is no import. Tests
//! are left out. Names from `use path::*` and macros are not followed.
//!
//! Two graphs are checked. In one, the files of a crate are compared, wherever they are: a file and
//! a child form a cycle if they import each other. In the other, the siblings of each folder are
//! compared, and a module is a file together with the files of the folder that has its name.
//!
//! # Source
//! Tarjan: Depth-first search and linear graph algorithms. SIAM J. Computing 1(2), 1972, for the
//! strongly connected components.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Finding, SourceFile, Tree};

/// The largest number of modules that may import each other in a cycle.
pub const CYCLE_MAX: usize = 5;

/// The path of a module within its crate: `["pool", "kind"]` for `src/pool/kind.rs`.
type ModulePath = Vec<String>;

/// The modules of a crate that are compared with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All files.
    Files,
    /// The children of a module; of the root if its name is empty.
    Children(String),
}

/// The imports between some modules of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The folder of the crate, as in `crates/net`.
    pub package: String,
    /// The modules that are compared.
    pub scope: Scope,
    /// The number of modules.
    pub module_count: usize,
    /// The number of pairs of modules of which one imports the other.
    pub edge_count: usize,
    /// The number of layers: the longest chain of imports, with each cycle as one module.
    pub layer_count: usize,
    /// The cycles, the largest first, each with the names of its modules.
    pub cycles: Vec<Vec<String>>,
}

impl Level {
    fn new(
        package: &str,
        scope: Scope,
        names: &[String],
        pairs: &BTreeSet<(String, String)>,
    ) -> Self {
        let graph = Graph::new(names, pairs);
        Self {
            package: package.to_owned(),
            scope,
            module_count: names.len(),
            edge_count: pairs.len(),
            layer_count: graph.layer_count(),
            cycles: graph.cycles(),
        }
    }

    /// Returns the number of modules in the largest cycle; 1 if there is none.
    #[must_use]
    pub fn largest_cycle(&self) -> usize {
        self.cycles.first().map_or(1, Vec::len)
    }
}

/// Finds cycles of more than [`CYCLE_MAX`] modules.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let too_large = |level: &Level| {
        let path = format!("{}/src/lib.rs", level.package);
        let of = match &level.scope {
            Scope::Files => "files".to_owned(),
            Scope::Children(parent) if parent.is_empty() => "modules".to_owned(),
            Scope::Children(parent) => format!("modules of `{parent}`"),
        };
        let finding = |cycle: &Vec<String>| {
            let what = format!(
                "{} {of} import each other in a cycle ({}); expected at most {CYCLE_MAX}",
                cycle.len(),
                cycle.join(", ")
            );
            Finding::new(&path, 1, what)
        };
        let cycles = level.cycles.iter();
        let cycles = cycles.filter(|cycle| cycle.len() > CYCLE_MAX);
        cycles.map(finding).collect::<Vec<_>>()
    };
    levels(tree).iter().flat_map(too_large).collect()
}

/// Describes every crate: the children of its root, of each other module, and its files.
#[must_use]
pub fn levels(tree: &Tree) -> Vec<Level> {
    let mut packages: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in tree.rust_files().filter(|file| !file.is_test()) {
        if let Some((package, _)) = file.path.split_once("/src/") {
            packages.entry(package).or_default().push(file);
        }
    }
    let of_package = |(package, files): (&&str, &Vec<&SourceFile>)| levels_of(package, files);
    packages.iter().flat_map(of_package).collect()
}

fn levels_of(package: &str, files: &[&SourceFile]) -> Vec<Level> {
    let modules: BTreeMap<ModulePath, &SourceFile> = files
        .iter()
        .map(|file| (module_path(&file.path), *file))
        .collect();
    let mut parents: BTreeMap<ModulePath, BTreeSet<String>> = BTreeMap::new();
    for path in modules.keys() {
        for depth in 0..path.len() {
            let children = parents.entry(path[..depth].to_vec()).or_default();
            children.insert(path[depth].clone());
        }
    }
    let mut edges: BTreeMap<ModulePath, BTreeSet<(String, String)>> = BTreeMap::new();
    let mut file_edges = BTreeSet::new();
    let uses = Uses::read(&modules);
    for (from, file) in &modules {
        let code = format!("{}{}", file.code, paths_of_serde(&file.text));
        for to in imports(from, &code, &uses) {
            // Every file may use the names of the root, which collects the interface of the crate.
            if !from.is_empty() && !to.is_empty() && to != *from {
                file_edges.insert((from.join("::"), to.join("::")));
            }
            // The two part at this depth: below it they have the same parents.
            let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if same < from.len() && same < to.len() {
                let pair = (from[same].clone(), to[same].clone());
                edges.entry(from[..same].to_vec()).or_default().insert(pair);
            }
        }
    }
    let describe = |(parent, children): (ModulePath, BTreeSet<String>)| {
        let names: Vec<String> = children.into_iter().collect();
        let pairs = edges.remove(&parent).unwrap_or_default();
        Level::new(package, Scope::Children(parent.join("::")), &names, &pairs)
    };
    let mut levels: Vec<Level> = parents.into_iter().map(describe).collect();
    let mut names: Vec<String> = modules.keys().map(|path| path.join("::")).collect();
    names.sort_unstable();
    levels.push(Level::new(package, Scope::Files, &names, &file_edges));
    levels
}

/// Returns the module of a file: `transport::mpi` for `crates/net/src/transport/mpi.rs`.
fn module_path(path: &str) -> ModulePath {
    let inner = path.split_once("/src/").map_or(path, |(_, inner)| inner);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let mut names: ModulePath = inner.split('/').map(str::to_owned).collect();
    let last = names.last().map(String::as_str);
    if last == Some("mod") || (names.len() == 1 && matches!(last, Some("lib" | "main"))) {
        names.pop();
    }
    names
}

/// Returns the modules that a file names by paths, or takes names from by `use`.
fn imports(from: &ModulePath, code: &str, uses: &Uses) -> BTreeSet<ModulePath> {
    let code = without_tests(code);
    let used = uses.paths.get(from).into_iter().flatten();
    let mut found: BTreeSet<ModulePath> = used
        .map(|path| uses.module_of(from, path.clone()))
        .collect();
    for (at, _) in code.match_indices("::") {
        let before = &code[..at];
        let start = before
            .rfind(|character: char| !is_part_of_name(character))
            .map_or(0, |at| at + 1);
        // The head of a path, which follows no `::`. A visibility imports nothing.
        if before[..start].ends_with("::") || before[..start].ends_with("(in ") {
            continue;
        }
        let Some(base) = base_of(&before[start..], from) else {
            continue;
        };
        let mut paths = Vec::new();
        read_paths(&code[at + 2..], base, &mut paths);
        found.extend(
            paths
                .into_iter()
                .map(|named| uses.module_of(from, named.path)),
        );
    }
    found
}

/// Returns the module to which `crate`, `self` or `super` at the head of a path refers; `None` for
/// another head.
fn base_of(head: &str, from: &ModulePath) -> Option<ModulePath> {
    match head {
        "crate" => Some(Vec::new()),
        "self" => Some(from.clone()),
        "super" => Some(from[..from.len().saturating_sub(1)].to_vec()),
        _ => None,
    }
}

/// The modules of a crate, and the names that each takes from others.
struct Uses {
    of: BTreeMap<ModulePath, BTreeMap<String, Taken>>,
    /// The paths in the `use` statements of each module.
    paths: BTreeMap<ModulePath, Vec<ModulePath>>,
}

/// A name that a module takes from another one.
struct Taken {
    from: ModulePath,
    /// True if modules outside see the name, too.
    is_public: bool,
}

impl Uses {
    /// The largest number of `use` that are followed from one name.
    const STEPS_MAX: usize = 8;

    fn read(modules: &BTreeMap<ModulePath, &SourceFile>) -> Self {
        let mut uses = Self {
            of: BTreeMap::new(),
            paths: BTreeMap::new(),
        };
        for (module, file) in modules {
            let code = without_tests(&file.code);
            let names = uses.of.entry(module.clone()).or_default();
            let all = uses.paths.entry(module.clone()).or_default();
            for (at, _) in code.match_indices("use ") {
                if code[..at].ends_with(is_part_of_name) {
                    continue;
                }
                let statement = code[at + "use ".len()..].trim_start();
                let head = statement
                    .split(|c| !is_part_of_name(c))
                    .next()
                    .unwrap_or_default();
                let mut child = module.clone();
                child.push(head.to_owned());
                let mut paths = Vec::new();
                if let Some(base) = base_of(head, module) {
                    let rest = statement[head.len()..].trim_start_matches("::");
                    read_paths(rest, base, &mut paths);
                } else if modules.contains_key(&child) {
                    read_paths(statement, module.clone(), &mut paths);
                }
                let visibility = code[..at].trim_end();
                let is_public = visibility.ends_with("pub") || visibility.ends_with(')');
                all.extend(paths.iter().map(|named| named.path.clone()));
                names.extend(paths.into_iter().map(|named| {
                    let from = named.path;
                    (named.name, Taken { from, is_public })
                }));
            }
        }
        uses
    }

    /// Returns the module that defines the item to which a path refers in module `user`.
    fn module_of(&self, user: &[String], mut path: ModulePath) -> ModulePath {
        for _ in 0..Self::STEPS_MAX {
            let depth = self.depth_of(&path);
            let taken = path
                .get(depth)
                .and_then(|name| self.of.get(&path[..depth])?.get(name));
            match taken {
                Some(taken) if taken.is_public || user.starts_with(&path[..depth]) => {
                    let rest = path.split_off(depth + 1);
                    path = [taken.from.as_slice(), &rest].concat();
                }
                _ => break,
            }
        }
        path.truncate(self.depth_of(&path));
        path
    }

    /// Returns the length of the longest prefix of a path that is a module; the rest names an item.
    fn depth_of(&self, path: &[String]) -> usize {
        let is_module = |depth: &usize| self.of.contains_key(&path[..*depth]);
        (0..=path.len()).rev().find(is_module).unwrap_or(0)
    }
}

/// A path, and the name by which the code refers to it.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    path: ModulePath,
    name: String,
}

/// Returns, as code, the paths in string literals of serde attributes.
fn paths_of_serde(text: &str) -> String {
    let attributes = text.lines().filter(|line| line.contains("#[serde("));
    let literals = attributes.flat_map(|line| line.split('"').skip(1).step_by(2));
    let paths = literals.filter(|literal| literal.starts_with("crate::"));
    paths.map(|path| format!("{path};\n")).collect()
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Reads the paths that go on in `rest` after `base::`. Returns what follows them.
fn read_paths<'code>(rest: &'code str, base: ModulePath, paths: &mut Vec<Named>) -> &'code str {
    let mut rest = rest.trim_start();
    if let Some(list) = rest.strip_prefix('{') {
        rest = list;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match rest.strip_prefix('}') {
                Some(after) => return after,
                None if rest.is_empty() => return rest,
                None => rest = read_paths(rest, base.clone(), paths),
            }
        }
    }
    let end = rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len());
    let (name, mut after) = rest.split_at(end);
    let mut path = base;
    match name {
        "" => {
            // `*`, or something that this scanner does not know: the module itself.
            let name = String::new();
            paths.push(Named { path, name });
            let mut skipped = rest.chars();
            skipped.next();
            return skipped.as_str();
        }
        "self" => {}
        "super" => {
            path.pop();
        }
        name => path.push(name.to_owned()),
    }
    if let Some(more) = after.strip_prefix("::")
        && more.starts_with(|c: char| is_part_of_name(c) || c == '{' || c == '*')
    {
        return read_paths(more, path, paths);
    }
    let mut name = path.last().cloned().unwrap_or_default();
    // `as name`, up to the next item of a list.
    if let Some(alias) = after.trim_start().strip_prefix("as ") {
        let end = alias.find(|c| !is_part_of_name(c)).unwrap_or(alias.len());
        alias[..end].clone_into(&mut name);
        after = after.find([',', '}', ';']).map_or("", |at| &after[at..]);
    }
    paths.push(Named { path, name });
    after
}

/// Returns the code of a file without its inline modules of tests.
fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut lines = code.lines().peekable();
    let mut is_in_tests = false;
    while let Some(line) = lines.next() {
        let begins = line.starts_with("#[cfg(")
            && line.contains("test")
            && lines.peek().is_some_and(|next| {
                let next = next.trim_start_matches("pub(crate) ");
                next.starts_with("mod ") && next.ends_with('{')
            });
        is_in_tests |= begins;
        if !is_in_tests {
            kept.push_str(line);
            kept.push('\n');
        } else if line == "}" {
            is_in_tests = false;
        }
    }
    kept
}

/// The imports between modules, as positions in a list of names.
struct Graph<'names> {
    names: &'names [String],
    targets: Vec<Vec<usize>>,
    /// The strongly connected components, each after all that it imports.
    components: Vec<Vec<usize>>,
}

impl<'names> Graph<'names> {
    fn new(names: &'names [String], pairs: &BTreeSet<(String, String)>) -> Self {
        let position = |name: &String| names.binary_search(name).ok();
        let mut targets = vec![Vec::new(); names.len()];
        for (from, to) in pairs {
            if let (Some(from), Some(to)) = (position(from), position(to)) {
                targets[from].push(to);
            }
        }
        let mut search = Search::new(&targets);
        for start in 0..names.len() {
            if search.order[start].is_none() {
                search.visit(start);
            }
        }
        let components = search.components;
        Self {
            names,
            targets,
            components,
        }
    }

    fn cycles(&self) -> Vec<Vec<String>> {
        let names = |component: &Vec<usize>| {
            let mut names: Vec<_> = component.iter().map(|&at| self.names[at].clone()).collect();
            names.sort_unstable();
            names
        };
        let cycles = self
            .components
            .iter()
            .filter(|component| component.len() > 1);
        let mut cycles: Vec<_> = cycles.map(names).collect();
        cycles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        cycles
    }

    fn layer_count(&self) -> usize {
        let mut layer = vec![0; self.names.len()];
        for component in &self.components {
            let below = component.iter().flat_map(|&at| &self.targets[at]);
            let below = below.filter(|target| !component.contains(target));
            let own = below.map(|&target| layer[target]).max().unwrap_or(0) + 1;
            component.iter().for_each(|&at| layer[at] = own);
        }
        layer.into_iter().max().unwrap_or(0)
    }
}

/// Tarjan's search for strongly connected components.
struct Search<'targets> {
    targets: &'targets [Vec<usize>],
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    stack: Vec<usize>,
    visited: usize,
    components: Vec<Vec<usize>>,
}

impl<'targets> Search<'targets> {
    fn new(targets: &'targets [Vec<usize>]) -> Self {
        Self {
            targets,
            order: vec![None; targets.len()],
            low: vec![0; targets.len()],
            stack: Vec::new(),
            visited: 0,
            components: Vec::new(),
        }
    }

    fn visit(&mut self, at: usize) {
        let own = self.visited;
        self.visited += 1;
        (self.order[at], self.low[at]) = (Some(own), own);
        self.stack.push(at);
        let targets = self.targets;
        for &target in &targets[at] {
            match self.order[target] {
                None => {
                    self.visit(target);
                    self.low[at] = self.low[at].min(self.low[target]);
                }
                Some(order) if self.stack.contains(&target) => {
                    self.low[at] = self.low[at].min(order);
                }
                Some(_) => {}
            }
        }
        if self.low[at] == own {
            let start = self.stack.iter().position(|&other| other == at);
            let component = self.stack.split_off(start.expect("it was pushed above"));
            self.components.push(component);
        }
    }
}

#[cfg(test)]
mod tests;
