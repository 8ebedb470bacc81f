//! From the nodes of a store to every document that changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::evidence::{Evidence, Presence, Question, Scan, Site};
use super::options::Options;
use super::outcome::{ArrayPlan, Planned, Reason};
use super::scan::{Examined, KeyForm, StoreEvidence, probe_separator};
use super::v2::{self, ArrayConversion, Refusal};
use crate::catalog::{ArrayText, Catalog, Entry, GroupText, Kind, causes, named};
use crate::codecs::configuration::{LEGACY, LEGACY_V2};
use crate::error::{Error, ErrorKind};
use crate::metadata::json::Value;
use crate::metadata::v3::Separator;
use crate::metadata::{self, Node, Problems};
use crate::pipeline::{Pipeline, Stopped};
use crate::selection::Selection;
use crate::store::Store;

/// What is asked of the migration of a hierarchy.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// What is asked of each array.
    pub array: Options,
    /// What separates the numbers in the names of chunks, for arrays of Zarr v2 that do not say or say otherwise.
    pub separator: Option<Separator>,
    /// Whether the documents of Zarr v2 go.
    pub remove_v2: bool,
}

/// How a hierarchy changes.
#[derive(Debug, Default)]
pub struct HierarchyPlan {
    /// The arrays that have anything to do with it, in the order of the walk.
    pub arrays: Vec<NodePlan>,
    /// The groups of Zarr v2 that become Zarr v3.
    pub groups: Vec<GroupPlan>,
    /// What is worth knowing about the hierarchy as a whole.
    pub notes: Vec<String>,
    /// How many arrays were selected.
    pub selected: u64,
}

/// How an array changes.
#[derive(Debug)]
pub struct NodePlan {
    /// The path from the store, without slashes at the ends.
    pub path: String,
    /// Its directory.
    pub directory: PathBuf,
    /// 2 or 3.
    pub zarr_format: u8,
    /// The document that the plan was made from, with the legacy codec in it: as it stands, or, for an array of Zarr v2, as
    /// one of v3.
    pub legacy_text: String,
    /// What is done.
    pub outcome: NodeOutcome,
    /// Whether the fill in it was stated.
    pub fill_is_defined: bool,
    /// What the conversion from Zarr v2 to v3 did besides.
    pub notes: Vec<String>,
    /// What the chunks were like that the plan depends on.
    pub examined: Option<Examined>,
    /// The topmost group of Zarr v2 that becomes Zarr v3 with it.
    pub tree: Option<String>,
}

/// What is done with an array.
#[derive(Debug)]
pub enum NodeOutcome {
    /// The legacy codec gives way.
    Migrate(Box<ArrayPlan>),
    /// It only becomes Zarr v3: the new document.
    Convert(String),
    /// Nothing can be done: for each reason, the document that it is about.
    Impossible(Vec<Obstacle>),
}

/// Why an array cannot be migrated, and in which of its documents that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The name of the document.
    pub file: Option<&'static str>,
    /// What is wrong.
    pub reason: Reason,
    /// Whether the document could not be read, or was read and is refused.
    pub kind: ErrorKind,
}

impl Obstacle {
    fn finding(file: Option<&'static str>, reason: Reason) -> Self {
        Self {
            file,
            reason,
            kind: ErrorKind::Finding,
        }
    }
}

impl HierarchyPlan {
    /// How bad the worst of what cannot be migrated is.
    #[must_use]
    pub fn worst(&self) -> ErrorKind {
        if self.is_unsure() {
            ErrorKind::Io
        } else {
            ErrorKind::Finding
        }
    }

    /// Whether something could not be read, so that there may be more arrays than are known.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        let mut obstacles = self.arrays.iter().flat_map(|node| match &node.outcome {
            NodeOutcome::Impossible(obstacles) => obstacles.as_slice(),
            _ => &[],
        });
        obstacles.any(|obstacle| obstacle.kind == ErrorKind::Io)
    }
}

/// How a group of Zarr v2 becomes one of v3.
#[derive(Debug)]
pub struct GroupPlan {
    /// The path from the store, without slashes at the ends.
    pub path: String,
    /// Its directory.
    pub directory: PathBuf,
    /// The new document, without consolidated metadata.
    pub text: String,
    /// Whether it has a `.zmetadata`.
    pub consolidated: bool,
}

impl NodePlan {
    /// The new document, if there is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.outcome {
            NodeOutcome::Migrate(plan) => Some(&plan.text),
            NodeOutcome::Convert(text) => Some(text),
            NodeOutcome::Impossible(_) => None,
        }
    }

    /// Whether it cannot be migrated.
    #[must_use]
    pub const fn is_impossible(&self) -> bool {
        matches!(self.outcome, NodeOutcome::Impossible(_))
    }
}

/// What planning works with.
#[derive(Clone, Copy)]
pub struct Work<'w> {
    /// The store.
    pub store: &'w Store,
    /// Its nodes.
    pub catalog: &'w Catalog,
    /// The arrays that are to be migrated.
    pub selection: &'w Selection,
    /// What is asked.
    pub wishes: &'w Wishes,
    /// Reads chunks.
    pub pipeline: &'w Pipeline<'w>,
    /// Whether the result goes to another place, and leaves the groups around the store as they are.
    pub elsewhere: bool,
}

/// An array that the plan is about.
struct Candidate<'c> {
    entry: &'c Entry,
    text: &'c ArrayText,
    selected: bool,
    tree: Option<&'c str>,
}

impl Work<'_> {
    /// Plans everything. Nothing is written.
    ///
    /// # Errors
    ///
    /// Where something could not be read, or the run is interrupted. What cannot be migrated is no error: the plan says so.
    pub fn plan(&self) -> Result<HierarchyPlan, Error> {
        let mut plan = HierarchyPlan::default();
        let trees = self.trees();
        let mut candidates = Vec::new();
        for entry in &self.catalog.entries {
            let selected = self.selection.contains(&entry.path);
            let tree = tree_of(&trees, &entry.path);
            match &entry.kind {
                Kind::Array(text) => {
                    plan.selected += u64::from(selected);
                    if tree.is_some() || selected && has_legacy(text) {
                        candidates.push(Candidate {
                            entry,
                            text,
                            selected,
                            tree,
                        });
                    }
                }
                Kind::Broken(findings) if selected || tree.is_some() => {
                    let obstacles = findings.iter().map(|finding| Obstacle {
                        file: None,
                        reason: Reason::new(None, finding.message.clone()),
                        kind: finding.kind,
                    });
                    plan.selected += 1;
                    let mut node = NodePlan::of(entry, tree);
                    node.outcome = NodeOutcome::Impossible(obstacles.collect());
                    plan.arrays.push(node);
                }
                Kind::Group(GroupText::V2 {
                    attributes,
                    consolidated,
                }) if tree.is_some() => {
                    let attributes = attributes.as_ref().map(|text| &text.parsed.root);
                    match v2::group(attributes) {
                        Ok(converted) => {
                            let notes = converted.notes.iter();
                            plan.notes.extend(
                                notes.map(|note| format!("{}: {note}", named(&entry.path))),
                            );
                            plan.groups.push(GroupPlan {
                                path: entry.path.clone(),
                                directory: entry.directory.clone(),
                                text: converted.text,
                                consolidated: *consolidated,
                            });
                        }
                        Err(refusals) => {
                            let mut node = NodePlan::of(entry, tree);
                            node.zarr_format = 2;
                            node.outcome = NodeOutcome::Impossible(obstacles(refusals));
                            plan.arrays.push(node);
                        }
                    }
                }
                Kind::Group(_) | Kind::Broken(_) => {}
            }
        }
        for (path, error) in &self.catalog.faults {
            plan.arrays.push(NodePlan {
                path: path.clone(),
                directory: self.store.directory().join(path),
                outcome: NodeOutcome::Impossible(vec![Obstacle {
                    file: None,
                    reason: Reason::new(None, causes(error)),
                    kind: error.kind(),
                }]),
                tree: tree_of(&trees, path).map(str::to_owned),
                ..NodePlan::empty()
            });
        }
        // One array reads its chunks at a time, with all threads and all memory; what needs no chunk is done side by side.
        let reading = Mutex::new(());
        let planned = self.pipeline.ordered(
            candidates.into_iter(),
            |_| 0,
            |candidate| self.node(&candidate, &reading),
            |planned| {
                plan.arrays.extend(planned?);
                Ok::<(), Error>(())
            },
        );
        planned.map_err(|stopped| match stopped {
            Stopped::Failed { error, .. } => error,
            Stopped::Interrupted(interrupted) => interrupted.into(),
        })?;
        plan.arrays
            .sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
        self.note_groups_around(&mut plan);
        self.note_shadowed(&mut plan);
        Ok(plan)
    }

    /// Says which documents of Zarr v2 stay beside a `zarr.json`, where readers may still go by them.
    fn note_shadowed(&self, plan: &mut HierarchyPlan) {
        let entries = &self.catalog.entries;
        let has_v2_group = entries
            .iter()
            .any(|entry| matches!(entry.kind, Kind::Group(GroupText::V2 { .. })));
        let shadowed: Vec<_> = entries
            .iter()
            .filter(|entry| !entry.shadowed.is_empty())
            .collect();
        if let Some(first) = shadowed.first()
            && (has_v2_group || self.wishes.remove_v2)
        {
            let which = match shadowed.len() {
                1 => named(&first.path),
                more => format!("{} and {} more", named(&first.path), more - 1),
            };
            plan.notes.push(format!(
                "{which}: documents of Zarr v2 stay beside a zarr.json that an earlier migration wrote; readers of a group of Zarr v2 \
                 still go by them"
            ));
        }
    }

    /// Says what readers of the groups around the store will see.
    fn note_groups_around(&self, plan: &mut HierarchyPlan) {
        let converted = plan
            .arrays
            .iter()
            .any(|node| node.zarr_format == 2 && !node.is_impossible());
        if self.elsewhere {
            return;
        }
        let around = self.store.enclosing().iter().rev();
        let mut v2 = around.filter(|group| {
            !group.directory.join("zarr.json").exists() && group.directory.join(".zgroup").exists()
        });
        if let (true, Some(group)) = (converted, v2.next()) {
            plan.notes.push(format!(
                "{:?} stays a group of Zarr v2: who opens that still sees the documents of Zarr v2, and the legacy codec",
                group.directory
            ));
        }
    }

    /// The topmost groups of Zarr v2 below which there is a selected array with the legacy codec.
    fn trees(&self) -> Vec<&str> {
        let mut trees: BTreeMap<&str, bool> = BTreeMap::new();
        for entry in &self.catalog.entries {
            let path = entry.path.as_str();
            let around = trees.iter_mut().find(|(tree, _)| is_below(tree, path));
            match (&entry.kind, around) {
                (Kind::Group(GroupText::V2 { .. }), None) => {
                    trees.insert(path, false);
                }
                (Kind::Array(text @ ArrayText::V2 { .. }), Some((_, used)))
                    if self.selection.contains(path) && has_legacy(text) =>
                {
                    *used = true;
                }
                _ => {}
            }
        }
        trees
            .into_iter()
            .filter(|(_, used)| *used)
            .map(|(tree, _)| tree)
            .collect()
    }

    fn node(
        &self,
        candidate: &Candidate<'_>,
        reading: &Mutex<()>,
    ) -> Result<Option<NodePlan>, Error> {
        let entry = candidate.entry;
        let mut node = NodePlan::of(entry, candidate.tree);
        match candidate.text {
            ArrayText::V3(text) => node.legacy_text.clone_from(&text.text),
            ArrayText::V2 { array, attributes } => {
                node.zarr_format = 2;
                let converted = self.convert(
                    entry,
                    &array.parsed.root,
                    attributes.as_ref().map(|text| &text.parsed.root),
                )?;
                match converted {
                    Ok(converted) => {
                        node.fill_is_defined = converted.fill_is_defined;
                        node.notes = converted.notes.iter().map(ToString::to_string).collect();
                        node.legacy_text = converted.text;
                    }
                    Err(obstacles) => {
                        node.outcome = NodeOutcome::Impossible(obstacles);
                        return Ok(Some(node));
                    }
                }
                if !candidate.selected && has_legacy(candidate.text) {
                    let reason = Reason::new(
                        None,
                        "a hierarchy of Zarr v2 is migrated as a whole, and --array leaves this array of it out",
                    );
                    node.outcome = NodeOutcome::Impossible(vec![Obstacle::finding(None, reason)]);
                    return Ok(Some(node));
                }
            }
        }
        let evidence = StoreEvidence::new(
            &entry.path,
            &entry.directory,
            &node.legacy_text,
            self.pipeline,
        )?;
        let planned = super::plan(
            &node.legacy_text,
            node.fill_is_defined,
            &self.wishes.array,
            &OneAtATime {
                evidence: &evidence,
                reading,
            },
        )?;
        node.examined = evidence.examined();
        node.outcome = match planned {
            Planned::Change(plan) => NodeOutcome::Migrate(plan),
            Planned::Nothing if node.zarr_format == 2 => {
                NodeOutcome::Convert(node.legacy_text.clone())
            }
            Planned::Nothing => return Ok(None),
            Planned::Impossible(reasons) => {
                // Pointers are those of the document that the user has, where that is one of v3.
                let file = (node.zarr_format == 3).then_some("zarr.json");
                let obstacles = reasons
                    .into_iter()
                    .map(|reason| Obstacle::finding(file, reason));
                NodeOutcome::Impossible(obstacles.collect())
            }
        };
        Ok(Some(node))
    }

    /// Converts an array of Zarr v2.
    fn convert(
        &self,
        entry: &Entry,
        root: &Value,
        attributes: Option<&Value>,
    ) -> Result<Result<ArrayConversion, Vec<Obstacle>>, Error> {
        let mut problems = Problems::default();
        let array = metadata::v2::array(&Node::root(root), &mut problems).complete();
        let Some(array) = array else {
            return Err(Error::finding(format!(
                "{}: .zarray is incomplete",
                named(&entry.path)
            )));
        };
        let stated = array
            .dimension_separator
            .as_ref()
            .map(|stated| stated.value);
        let separator = self.wishes.separator.or(stated).unwrap_or(Separator::Dot);
        let keys = probe_separator(&entry.directory, &array.shape.value, &array.chunks.value)?;
        let agree =
            keys.agrees_with(separator) || keys == KeyForm::Both && self.wishes.separator.is_some();
        if !agree {
            let obstacle =
                Obstacle::finding(Some(".zarray"), keys_disagree(keys, stated, separator));
            return Ok(Err(vec![obstacle]));
        }
        Ok(v2::array(&array, attributes, separator).map_err(obstacles))
    }
}

impl NodePlan {
    /// A plan for a node that has not been looked at yet.
    fn of(entry: &Entry, tree: Option<&str>) -> Self {
        Self {
            path: entry.path.clone(),
            directory: entry.directory.clone(),
            tree: tree.map(str::to_owned),
            ..Self::empty()
        }
    }

    fn empty() -> Self {
        Self {
            path: String::new(),
            directory: PathBuf::new(),
            zarr_format: 3,
            legacy_text: String::new(),
            fill_is_defined: true,
            outcome: NodeOutcome::Impossible(Vec::new()),
            notes: Vec::new(),
            examined: None,
            tree: None,
        }
    }
}

fn obstacles(refusals: Vec<Refusal>) -> Vec<Obstacle> {
    let obstacles = refusals.into_iter().map(|refusal| {
        let mut message = refusal.found;
        if !refusal.expected.is_empty() {
            message = format!("{message}; expected {}", refusal.expected);
        }
        let pointer = (!refusal.pointer.is_empty()).then_some(refusal.pointer);
        let mut reason = Reason::new(pointer, message);
        reason.hint = refusal.hint;
        Obstacle::finding(Some(refusal.file.name()), reason)
    });
    obstacles.collect()
}

/// Why the names of chunks keep an array from being converted.
fn keys_disagree(keys: KeyForm, stated: Option<Separator>, separator: Separator) -> Reason {
    let pointer = stated.map(|_| "/dimension_separator".to_owned());
    let stated = match stated {
        Some(separator) => format!("the document says {:?}", separator.as_str()),
        None => "the document does not say, which means \".\"".to_owned(),
    };
    let found = match keys {
        KeyForm::Both => "there are chunks named like 0.0 and chunks named like 0/0",
        KeyForm::Dot => "the chunks are named like 0.0",
        KeyForm::Slash | KeyForm::Neither => "the chunks are named like 0/0",
    };
    let message = format!(
        "{found}, and not with {:?} between the numbers alone; {stated}",
        separator.as_str()
    );
    Reason::new(pointer, message).hint("--separator says which of them are the array's")
}

/// Whether a document names the legacy codec in its chain.
fn has_legacy(text: &ArrayText) -> bool {
    let names = |list: Option<&Value>, member: &str| -> bool {
        let elements = list.and_then(Value::as_array).unwrap_or_default();
        elements.iter().any(|codec| names_legacy(codec, member))
    };
    match text {
        ArrayText::V3(text) => names(text.parsed.root.get("codecs"), "name"),
        ArrayText::V2 { array, .. } => {
            let root = &array.parsed.root;
            names(root.get("filters"), "id")
                || root
                    .get("compressor")
                    .is_some_and(|codec| names_legacy(codec, "id"))
        }
    }
}

/// Whether a codec is the legacy one, or a shard with the legacy one in it.
fn names_legacy(codec: &Value, member: &str) -> bool {
    let name = codec.as_str().or_else(|| codec.get(member)?.as_str());
    if name.is_some_and(|name| [LEGACY, LEGACY_V2].contains(&name)) {
        return true;
    }
    let Some(configuration) = codec.get("configuration") else {
        return false;
    };
    // Shards are no deeper than documents are nested, which parsing bounds.
    ["codecs", "index_codecs"].iter().any(|list| {
        let inner = configuration.get(list).and_then(Value::as_array);
        let mut inner = inner.unwrap_or_default().iter();
        inner.any(|codec| names_legacy(codec, member))
    })
}

/// Evidence that reads chunks while no other does.
struct OneAtATime<'a> {
    evidence: &'a StoreEvidence<'a>,
    reading: &'a Mutex<()>,
}

impl Evidence for OneAtATime<'_> {
    fn scan(&self, site: &Site, question: &Question<'_>) -> Result<Scan, Error> {
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        self.evidence.scan(site, question)
    }

    fn presence(&self) -> Result<Presence, Error> {
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        self.evidence.presence()
    }
}

/// Whether a path is that of a group or of something in it.
pub(super) fn is_below(group: &str, path: &str) -> bool {
    group.is_empty()
        || path
            .strip_prefix(group)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn tree_of<'t>(trees: &[&'t str], path: &str) -> Option<&'t str> {
    trees.iter().copied().find(|tree| is_below(tree, path))
}
