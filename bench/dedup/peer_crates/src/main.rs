//! Near-duplicate removal of JSONL by crates that have indexes but no program of their own: reads the documents, has the
//! crate find the earlier near-duplicates of each, and writes the lines of those that have none.
//!
//! usage: peer_crates gaoya|simdoc IN OUT MATCHES THRESHOLD NGRAM HASHES BANDS representative|connected
//! MATCHES: a file for lines "row TAB earlier row", or "-".

use std::borrow::Cow;
use std::collections::HashSet;
use std::env;
use std::fs::{self, File};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{BufWriter, Write};

use find_simdoc::JaccardSearcher;
use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, VecContainer};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error>;

#[derive(serde::Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

struct Settings {
    threshold: f64,
    ngram: usize,
    hashes: usize,
    bands: usize,
    /// Documents that have gone count as earlier ones too.
    connected: bool,
}

const BATCH: usize = 10_000;

fn words(line: &str) -> Vec<String> {
    let record: Record = serde_json::from_str(line).expect("a JSON object with a field \"text\" per line");
    let text = record.text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Hashes of the word n-grams; a text of fewer words is one n-gram.
fn shingles(words: &[String], ngram: usize) -> HashSet<u64> {
    let state = BuildHasherDefault::<DefaultHasher>::default();
    words.windows(ngram.min(words.len().max(1))).map(|gram| state.hash_one(gram)).collect()
}

/// For each document the earlier ones that the index calls similar.
fn by_gaoya(lines: &[&str], settings: &Settings) -> Vec<Vec<usize>> {
    let rows = settings.hashes / settings.bands;
    let hasher = MinHasher32::new(rows * settings.bands);
    let mut index = MinHashIndex::<u32, u32, VecContainer<u32>>::new_index(settings.bands, rows, settings.threshold);
    let mut found = Vec::with_capacity(lines.len());
    for batch in lines.chunks(BATCH) {
        let signatures: Vec<Vec<u32>> = batch
            .par_iter()
            .map(|line| hasher.create_signature(shingles(&words(line), settings.ngram).iter()))
            .collect();
        for signature in signatures {
            let hits: Vec<usize> = index.query_owned(&signature).into_iter().map(|row| row as usize).collect();
            if hits.is_empty() || settings.connected {
                index.insert(found.len() as u32, signature);
            }
            found.push(hits);
        }
        eprintln!("progress {}", found.len());
    }
    found
}

/// The same by sketches of one bit per hash and a join of all of them.
fn by_simdoc(lines: &[&str], settings: &Settings) -> Result<Vec<Vec<usize>>, Failure> {
    let texts: Vec<String> = lines.par_iter().map(|line| format!("{} ", words(line).join(" "))).collect();
    let searcher = JaccardSearcher::new(settings.ngram, Some(' '), Some(1))?
        .build_sketches_in_parallel(texts.iter(), settings.hashes / 64)?;
    eprintln!("progress {} documents have sketches", lines.len());
    let mut pairs = searcher.search_similar_pairs(1.0 - settings.threshold);
    pairs.sort_unstable_by_key(|&(a, b, _)| (a.max(b), a.min(b)));
    let mut found = vec![Vec::new(); lines.len()];
    for (a, b, _) in pairs {
        if found[a.min(b)].is_empty() || settings.connected {
            found[a.max(b)].push(a.min(b));
        }
    }
    Ok(found)
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().collect();
    let [_, name, input, output, matches, threshold, ngram, hashes, bands, grouping] = words.as_slice() else {
        return Err("usage: peer_crates gaoya|simdoc IN OUT MATCHES THRESHOLD NGRAM HASHES BANDS GROUPING".into());
    };
    let settings = Settings {
        threshold: threshold.parse()?,
        ngram: ngram.parse()?,
        hashes: hashes.parse()?,
        bands: bands.parse()?,
        connected: grouping == "connected",
    };
    let text = fs::read_to_string(input)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let found = match name.as_str() {
        "gaoya" => by_gaoya(&lines, &settings),
        "simdoc" => by_simdoc(&lines, &settings)?,
        _ => return Err(format!("{name} is none of gaoya, simdoc").into()),
    };
    let mut kept = BufWriter::new(File::create(output)?);
    for (line, hits) in lines.iter().zip(&found) {
        if hits.is_empty() {
            kept.write_all(line.as_bytes())?;
        }
    }
    kept.flush()?;
    if matches != "-" {
        let mut list = BufWriter::new(File::create(matches)?);
        for (row, hits) in found.iter().enumerate() {
            for hit in hits {
                writeln!(list, "{row}\t{hit}")?;
            }
        }
        list.flush()?;
    }
    Ok(())
}
