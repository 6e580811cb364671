//! Where numbers come from: sets of input words, kept as the unions that made them.

use std::collections::BTreeSet;

/// A set of input words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin(u32);

impl Origin {
    /// No word at all: a number that the plan alone decides.
    pub const NONE: Origin = Origin(0);
}

/// A word of an input or a constant: the number of its buffer among all of them, and its own in that buffer.
pub type Word = (usize, u64);

enum Node {
    None,
    Word(Word),
    Both(Origin, Origin),
}

pub struct Origins {
    nodes: Vec<Node>,
    /// Whether anything is kept of them: if not, whatever is asked of them comes of nothing.
    kept: bool,
}

impl Origins {
    pub fn new(kept: bool) -> Origins {
        Origins { nodes: vec![Node::None], kept }
    }

    fn add(&mut self, node: Node) -> Origin {
        self.nodes.push(node);
        Origin(u32::try_from(self.nodes.len() - 1).expect("a plan small enough for paper"))
    }

    pub fn word(&mut self, word: Word) -> Origin {
        if self.kept { self.add(Node::Word(word)) } else { Origin::NONE }
    }

    pub fn both(&mut self, a: Origin, b: Origin) -> Origin {
        match (a, b) {
            (a, Origin::NONE) => a,
            (Origin::NONE, b) => b,
            (a, b) if a == b => a,
            (a, b) => match (&self.nodes[a.0 as usize], &self.nodes[b.0 as usize]) {
                (Node::Both(x, y), _) if *x == b || *y == b => a,
                (_, Node::Both(x, y)) if *x == a || *y == a => b,
                _ => self.add(Node::Both(a, b)),
            },
        }
    }

    /// The words of all these sets.
    pub fn words(&self, of: impl IntoIterator<Item = Origin>) -> BTreeSet<Word> {
        let mut words = BTreeSet::new();
        let mut open: Vec<Origin> = of.into_iter().collect();
        let mut seen = std::collections::HashSet::new();
        while let Some(origin) = open.pop() {
            if !seen.insert(origin) {
                continue;
            }
            match self.nodes[origin.0 as usize] {
                Node::None => {}
                Node::Word(word) => {
                    words.insert(word);
                }
                Node::Both(a, b) => open.extend([a, b]),
            }
        }
        words
    }
}
