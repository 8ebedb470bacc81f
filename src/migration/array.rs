//! The plan for one array: from the text of its document and what its data tell to the new text and the verdicts.

use crate::codecs::model::Model;
use crate::error::Error;
use crate::metadata::edit::Draft;
use crate::metadata::json::Value;
use crate::metadata::v3;
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

use super::document::{self, Place, Run};
use super::encoding::EncodeVerdict;
use super::evidence::Evidence;
use super::fill::{Carried, NewRun, handed_before, reaching};
use super::forms;
use super::judge::{Changed, Fills, judge};
use super::missing::{self, Declaration};
use super::notes;
use super::options::{Options, Verify};
use super::outcome::{ArrayPlan, FillPlan, Form, Planned, Reason, SitePlan, Stop};
use super::rewrite::{Edits, brief, new_codecs, old_codecs};
use super::settle::{Settled, settle};
use super::site::Site;
use super::verdict::{CodesVerdict, Declared, DecodeVerdict, Proof, is_same};

/// Plans the migration of one array off the legacy codec.
///
/// `text` is a `zarr.json`, or what a `.zarray` becomes; `fill_is_defined` is false where the fill in it was null in Zarr v2.
///
/// # Errors
///
/// Where `evidence` could not be read, or the run is interrupted. Whatever is wrong with the array itself is a [`Reason`].
pub fn plan(
    text: &str,
    fill_is_defined: bool,
    options: &Options,
    evidence: &dyn Evidence,
) -> Result<Planned, Error> {
    match planned(text, fill_is_defined, options, evidence) {
        Ok(planned) => Ok(planned),
        Err(Stop::Impossible(reasons)) => Ok(Planned::Impossible(reasons)),
        Err(Stop::Error(error)) => Err(error),
    }
}

fn planned(
    text: &str,
    fill_is_defined: bool,
    options: &Options,
    evidence: &dyn Evidence,
) -> Result<Planned, Stop> {
    let parsed = document::parse_text(text)?;
    let array = document::read_array(&parsed)?;
    if !document::has_legacy(&array) {
        return Ok(Planned::Nothing);
    }
    let model = document::model(&array)?;
    let places = document::way(&array, &model)?;
    let fill = stated_fill(&array, &model, fill_is_defined)?;
    let declared = match &options.missing {
        Some(code) => Some(Declaration::new(code, &array, &places)?),
        None => None,
    };
    let sites = sites(&places, fill, options, declared.as_ref());
    let forms = forms::choose(&sites, options, evidence)?;
    let planning = Planning {
        text,
        root: &parsed.root,
        array: &array,
        places: &places,
        sites: &sites,
        declared: declared.as_ref(),
        fill,
        stated: model.outer.incoming.fill,
        options,
        evidence,
    };
    let settled = settle(&planning, forms)?;
    let plan = planning.finish(settled)?;
    Ok(Planned::Change(Box::new(plan)))
}

/// The fill that the document states; `None` where it was undefined.
fn stated_fill(
    array: &v3::Array<'_>,
    model: &Model,
    is_defined: bool,
) -> Result<Option<Scalar>, Stop> {
    if !is_defined {
        return Ok(None);
    }
    match model.outer.incoming.fill {
        Some(fill) => Ok(Some(fill)),
        None => {
            let forms = model.outer.incoming.data_type.map(DataType::literal_forms);
            let message = format!(
                "expected {}, found {}",
                forms.unwrap_or_else(|| "a value of the data type".to_owned()),
                brief(array.fill_value.value)
            );
            Err(Reason::new("/fill_value".to_owned(), message).into())
        }
    }
}

fn sites<'m>(
    places: &'m [Place<'m>],
    fill: Option<Scalar>,
    options: &Options,
    declared: Option<&Declaration>,
) -> Vec<Site<'m>> {
    let runs = places.iter().filter_map(|place| match place {
        Place::Run(run) if run.is_legacy() => Some(run),
        _ => None,
    });
    runs.zip(reaching(places, fill))
        .filter_map(|(run, fill)| Site::new(run, fill, options, declared))
        .collect()
}

/// All that a plan is made from.
pub(super) struct Planning<'p> {
    pub(super) text: &'p str,
    pub(super) root: &'p Value,
    pub(super) array: &'p v3::Array<'p>,
    pub(super) places: &'p [Place<'p>],
    pub(super) sites: &'p [Site<'p>],
    pub(super) declared: Option<&'p Declaration>,
    /// The fill before; `None` where it was undefined.
    pub(super) fill: Option<Scalar>,
    /// The fill that the text states, defined or not.
    pub(super) stated: Option<Scalar>,
    pub(super) options: &'p Options,
    pub(super) evidence: &'p dyn Evidence,
}

impl Planning<'_> {
    /// The array's type. There is none without a site.
    pub(super) fn data_type(&self) -> Option<DataType> {
        DataType::from_name(self.array.data_type.name)
    }

    fn finish(&self, settled: Settled) -> Result<ArrayPlan, Stop> {
        let decode = self.decode(&settled)?;
        let Settled {
            fill,
            outcome,
            forms,
            carried,
            mut notes,
        } = settled;
        let runs: Vec<_> = self
            .sites
            .iter()
            .map(|site| site.run)
            .zip(&carried.runs)
            .collect();
        for (run, _) in &runs {
            notes::of_run(run, self.array, &mut notes);
        }
        let is_stated = self.stated.is_some_and(|stated| is_same(stated, fill));
        let edits = Edits {
            text: self.text,
            root: self.root,
            runs: runs.clone(),
            fill: (!is_stated).then(|| fill_draft(fill)),
            dropped: self.dropped(&mut notes)?,
        };
        let (text, changes) = edits.apply()?;
        check(&text)?;
        let drift = drift(&carried, fill);
        if let Some(back) = drift {
            notes.push(format!(
                "the fill value {fill} survives each cast, and comes back through the whole chain as {back}"
            ));
        }
        let sites = runs.iter().zip(&forms);
        let sites = sites.map(|((run, new), form)| site_plan(run, new, *form));
        Ok(ArrayPlan {
            text,
            changes,
            sites: sites.collect(),
            fill: FillPlan {
                old: self.fill,
                new: fill,
                outcome,
                code: carried.runs.first().and_then(NewRun::stored_fill),
                drift,
                maps: carried.maps.clone(),
            },
            decode,
            encode: self.encode(&carried),
            notes,
        })
    }

    /// The verdict on the values.
    fn decode(&self, settled: &Settled) -> Result<DecodeVerdict, Stop> {
        let mut codes = self.codes(settled)?;
        let asked = codes.iter().any(|codes| codes.all_codes.is_some());
        let mut again = false;
        for (number, (site, codes)) in self.sites.iter().zip(&codes).enumerate() {
            // One verdict over codes in use makes the others be over those too; and behind another legacy codec only these may count.
            let over_all = codes.proof == Some(Proof::AllCodes) && !codes.is_identical();
            if over_all && (asked || number > 0) && self.options.verify == Verify::Data {
                site.scan(self.evidence)?;
                again = true;
            }
        }
        if again {
            codes = self.codes(settled)?;
        }
        let sites = self.sites.iter().zip(&settled.forms);
        for ((site, form), codes) in sites.zip(&codes).skip(1) {
            if codes.proof.is_some() && !codes.is_identical() {
                return Err(self.behind_another(site, *form));
            }
        }
        let runs = self.sites.iter().zip(&settled.carried.runs);
        let changed: Vec<_> = runs
            .zip(codes)
            .map(|((site, new), codes)| Changed {
                place: self.place_of(site.run),
                old: site.old,
                new: &new.chain,
                codes,
            })
            .collect();
        let fills = Fills {
            old: self.fill,
            new: Some(settled.fill),
            handed_old: handed_before(self.places, self.fill),
            handed_new: settled.carried.handed.clone(),
        };
        let declared = self.declared_code(settled)?;
        judge(self.places, &changed, &fills, declared, self.evidence)
    }

    /// What becomes of the codes of each site.
    fn codes(&self, settled: &Settled) -> Result<Vec<CodesVerdict>, Stop> {
        let (options, evidence) = (self.options, self.evidence);
        let sites = self.sites.iter().zip(&settled.forms);
        sites
            .zip(&settled.carried.runs)
            .enumerate()
            .map(|(number, ((site, form), new))| {
                let bare = site.verdict(*form, options, evidence)?;
                let is_declared = self.declared.is_some();
                if is_declared || settled.carried.maps.iter().any(|map| map.site == number) {
                    site.mapped_verdict(*form, &new.chain, is_declared, options, evidence)
                } else {
                    Ok(bare)
                }
            })
            .collect()
    }

    /// The code that was declared missing, and whether others change besides.
    fn declared_code(&self, settled: &Settled) -> Result<Option<Declared>, Stop> {
        let (Some(declaration), [site], [form]) =
            (self.declared, self.sites, settled.forms.as_slice())
        else {
            return Ok(None);
        };
        let code = declaration.code(site.old.stored_type());
        let code = code.map_err(|message| Reason::new(None, message))?;
        let others = site.verdict(*form, self.options, self.evidence)?;
        Ok(Some(Declared {
            code,
            value: site.old.transform(Direction::Decode, code).ok(),
            others_differ: others.proof.is_some() && !others.is_identical(),
        }))
    }

    /// What the values of an array become cannot be told code by code where one codec computes with what another decodes.
    fn behind_another(&self, site: &Site<'_>, form: Form) -> Stop {
        let message = "this codec would decode some codes to other values, and the legacy codec before it computes with these, so \
                       that what the array's values become cannot be told";
        let reason = Reason::new(site.run.pointer(0), message);
        if form == Form::Plain && site.may_be_exact() {
            reason
                .hint("--exact computes as the legacy codec does")
                .into()
        } else {
            reason.into()
        }
    }

    fn place_of(&self, run: &Run<'_>) -> usize {
        let places = self.places.iter();
        let is_it =
            |place: &Place<'_>| matches!(place, Place::Run(other) if other.site == run.site);
        places.take_while(|place| !is_it(place)).count()
    }

    /// The verdict on what is written from now on: that of the first site where codes differ.
    fn encode(&self, carried: &Carried) -> EncodeVerdict {
        let sites = self.sites.iter().zip(&carried.runs);
        let mut verdicts = sites.map(|(site, new)| EncodeVerdict::of(site.old, &new.chain));
        let first = verdicts.next().unwrap_or_default();
        if first.is_same() {
            verdicts.find(|verdict| !verdict.is_same()).unwrap_or(first)
        } else {
            first
        }
    }

    /// The attributes that go with a declared code.
    fn dropped(&self, notes: &mut Vec<String>) -> Result<Vec<&'static str>, Stop> {
        let (Some(declaration), [site]) = (self.declared, self.sites) else {
            return Ok(Vec::new());
        };
        let code = declaration.code(site.old.stored_type());
        let code = code.map_err(|message| Reason::new(None, message))?;
        let value = site.old.transform(Direction::Decode, code).ok();
        let dropped = missing::dropped(self.array, code, value);
        for (name, old) in &dropped {
            notes.push(format!(
                "the attribute {name} is dropped; it was {}",
                brief(old)
            ));
        }
        for name in missing::kept(self.array, &dropped) {
            notes.push(format!(
                "the attribute {name} stays, as it names another value"
            ));
        }
        Ok(dropped.into_iter().map(|(name, _)| name).collect())
    }
}

/// What the chain of one run gives back for the fill, where that is another value.
fn drift(carried: &Carried, fill: Scalar) -> Option<Scalar> {
    let new = carried.runs.first()?;
    let trace = new.chain.fill()?;
    let codecs = new.rewritten.codecs.len();
    let reaches = trace.encoded.first().copied()?;
    let back = trace.decoded.get(codecs).copied()?;
    (is_same(reaches, fill) && !back.equals(fill)).then_some(back)
}

fn fill_draft(fill: Scalar) -> Draft {
    let text = fill.to_json();
    match text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    {
        Some(string) => Draft::string(string),
        None => Draft::Number(text),
    }
}

fn site_plan(run: &Run<'_>, new: &NewRun, form: Form) -> SitePlan {
    SitePlan {
        list: run.site.list.clone(),
        first: run.site.first,
        form,
        old: old_codecs(run),
        new: new_codecs(run, new),
        incoming: run.incoming,
        stored: new.chain.stored_type(),
    }
}

/// Reads the new document as if it were not known: it names no legacy codec, and nothing is wrong with its chain.
fn check(text: &str) -> Result<(), Stop> {
    let parsed = document::parse_text(text)?;
    let array = document::read_array(&parsed)?;
    let model = document::model(&array)?;
    let problem = model
        .packing()
        .flat_map(|packing| {
            packing
                .binding
                .problems
                .iter()
                .zip(&packing.problem_pointers)
        })
        .next();
    if let Some((problem, pointer)) = problem {
        let message = format!(
            "the new chain would not be sound: expected {}, found {}",
            problem.expected, problem.found
        );
        return Err(Reason::new(pointer.clone(), message).into());
    }
    if document::has_legacy(&array) {
        return Err(Reason::new(None, "a legacy codec could not be replaced").into());
    }
    Ok(())
}
