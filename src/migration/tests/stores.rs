//! The documents of the reference stores, without their data.

use super::*;
use crate::migration::verdict::Proof;

#[test]
fn every_document_is_planned_or_needs_its_data() {
    let stores = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/stores");
    let mut names: Vec<_> = std::fs::read_dir(stores)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("zarr.json"))
        .filter(|path| path.exists())
        .collect();
    names.sort();
    let mut found = String::new();
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("fixedscaleoffset") || text.contains(r#""node_type": "group""#) {
            continue;
        }
        let store = path.parent().unwrap().file_name().unwrap();
        for options in [Options::default(), exact()] {
            let form = if options.exact { "exact" } else { "plain" };
            let planned = plan(&text, true, &options, &Data::untouched()).unwrap();
            let line = match planned {
                Planned::Change(plan) => format!(
                    "{:?} {} {}",
                    plan.decode.kind,
                    plan.decode.proof.map_or("-", Proof::name),
                    plan.sites[0].form.name()
                ),
                Planned::Impossible(reasons) => reasons[0].message.clone(),
                Planned::Nothing => "nothing".to_owned(),
            };
            found.push_str(&format!("{} {form}: {line}\n", store.display()));
        }
    }
    insta::assert_snapshot!(found, @"
    fso_0d plain: Identical all-codes plain
    fso_0d exact: Identical all-codes plain
    fso_astype_omitted plain: the chunks cannot be decoded here
    fso_astype_omitted exact: the chunks cannot be decoded here
    fso_bytes_big_le_names plain: Identical all-codes plain
    fso_bytes_big_le_names exact: Identical all-codes plain
    fso_bytes_little_be_astype plain: the chunks cannot be decoded here
    fso_bytes_little_be_astype exact: the chunks cannot be decoded here
    fso_f4_i2_blosc_3d plain: Identical all-codes plain
    fso_f4_i2_blosc_3d exact: Identical all-codes plain
    fso_f4_u1_plain plain: Identical all-codes plain
    fso_f4_u1_plain exact: Identical all-codes plain
    fso_f4_u2_zstd_2d plain: Differs all-codes plain
    fso_f4_u2_zstd_2d exact: Identical all-codes exact
    fso_f8_i4_gzip plain: the chunks cannot be decoded here
    fso_f8_i4_gzip exact: the chunks cannot be decoded here
    fso_i2_u1_scale01 plain: expected an integer from -32768 to 32767, since scale_offset takes its numbers in the type of the values there, int16; found a scale of 0.1, which is no whole number
    fso_i2_u1_scale01 exact: Identical all-codes exact
    fso_i4_i2_scale10 plain: the chunks cannot be decoded here
    fso_i4_i2_scale10 exact: Identical all-codes exact
    fso_long_names_zlib plain: Identical all-codes plain
    fso_long_names_zlib exact: Identical all-codes plain
    fso_nanfill_missing plain: the chunks cannot be decoded here
    fso_nanfill_missing exact: the chunks cannot be decoded here
    fso_outer_before_sharding plain: Identical all-codes plain
    fso_outer_before_sharding exact: Identical all-codes plain
    fso_scale0 plain: expected a number other than zero, found a scale of 0
    fso_scale0 exact: expected a number other than zero, found a scale of 0
    fso_sharded_inner_partial plain: Differs all-codes plain
    fso_sharded_inner_partial exact: Identical all-codes exact
    fso_then_delta plain: Differs all-codes plain
    fso_then_delta exact: Identical all-codes exact
    fso_transpose_after plain: Identical all-codes plain
    fso_transpose_after exact: Identical all-codes plain
    fso_transpose_before plain: Identical all-codes plain
    fso_transpose_before exact: Identical all-codes plain
    fso_two_chained plain: the chunks cannot be decoded here
    fso_two_chained exact: the chunks cannot be decoded here
    fso_v2keys_dot plain: Identical all-codes plain
    fso_v2keys_dot exact: Identical all-codes plain
    fso_zerofill_missing plain: the chunks cannot be decoded here
    fso_zerofill_missing exact: the chunks cannot be decoded here
    ");
}
