//! The list of crawlers' names (src/domain/tracking/user_agent/crawlers.txt), and how well crawlers and people are told
//! apart on public lists of User-Agents that the list was not made from.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde::Deserialize;

use domain::tracking::user_agent::crawlers::{NAMES, has_crawlers_form, is_crawler};

/// An entry of the npm package `crawler-user-agents`.
#[derive(Deserialize)]
struct Crawler {
    /// A regular expression.
    pattern: String,
    instances: Vec<String>,
    tags: Vec<String>,
}

/// Names that people's devices have as well: browsers, apps, phones and Android's builds.
const OF_PEOPLE_TOO: [&str; 14] = [
    "ap3a.240617.008",
    "blackboard",
    "butterfly",
    "code/1.",
    "expanse",
    "fever",
    "fluid",
    "gopay",
    "newsblur",
    "podimo",
    "sogou",
    "sonic",
    "speedy",
    "viber",
];

/// Names that the package lacks.
const FURTHER: [&str; 2] = ["google-", "meta-externalads"];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}; `make test`", path.display()))
}

fn crawlers() -> Vec<Crawler> {
    let text = read("node_modules/crawler-user-agents/crawler-user-agents.json");
    let all: Vec<Crawler> = serde_json::from_str(&text).unwrap();
    // The publisher's app or backend may call the tracking URL with a library.
    let is_library = |crawler: &Crawler| crawler.tags.iter().any(|tag| tag == "http-library");
    all.into_iter().filter(|crawler| !is_library(crawler)).collect()
}

/// The names that a pattern matches, in small letters; `None` if it needs more than alternatives, pairs of letters of
/// both cases, and anchors.
fn names_of(pattern: &str) -> Option<Vec<String>> {
    let mut pattern = pattern.to_owned();
    for (found, plain) in [("([^-]|$)", ""), ("(^| )", ""), ("\\/", "/"), ("\\.", "."), ("\\-", "-")] {
        pattern = pattern.replace(found, plain);
    }
    let pattern = pattern.replace("\\(", "\u{1}").replace("\\)", "\u{2}").replace("\\+", "\u{3}");
    if let Some((before, rest)) = pattern.split_once('(') {
        let (choices, after) = rest.split_once(')')?;
        let each = choices.split('|').map(|choice| names_of(&format!("{before}{choice}{after}")));
        return Some(each.collect::<Option<Vec<_>>>()?.concat());
    }
    // A name that counts only at the beginning would match anywhere. Such names are few, and mostly libraries.
    let choices = pattern.split('|').filter(|choice| !choice.starts_with('^'));
    let each = choices.map(|choice| {
        let mut name = choice.trim_end_matches('$').to_lowercase();
        for letter in 'a'..='z' {
            name = name.replace(&format!("[{letter}{letter}]"), &letter.to_string());
        }
        let name = name.trim_start_matches(|char: char| !char.is_ascii_alphanumeric()).trim_end();
        let is_plain = !name.contains(['[', ']', '\\', '*', '+', '?', '{', '}', '^', '$', '!']);
        is_plain.then(|| name.replace('\u{1}', "(").replace('\u{2}', ")").replace('\u{3}', "+"))
    });
    each.collect()
}

fn list() -> String {
    let mut names = BTreeSet::from(FURTHER.map(str::to_owned));
    let mut skipped = Vec::new();
    for crawler in crawlers() {
        let Some(found) = names_of(&crawler.pattern) else {
            skipped.push(crawler.pattern);
            continue;
        };
        let needs_name = crawler.instances.iter().any(|instance| !has_crawlers_form(instance));
        names.extend(found.into_iter().filter(|name| needs_name || !has_crawlers_form(name)));
    }
    assert!(skipped.len() < 10, "these patterns are not names: {skipped:?}");
    names.retain(|name| name.len() >= 3 && !OF_PEOPLE_TOO.contains(&name.as_str()));
    names.into_iter().map(|name| name + "\n").collect()
}

#[test]
#[ignore = "writes the list, after an update of the package"]
fn write_the_list_of_crawlers() {
    fs::write(root().join("src/domain/tracking/user_agent/crawlers.txt"), list()).unwrap();
}

#[test]
fn the_list_of_crawlers_is_that_of_the_installed_package() {
    assert!(NAMES == list(), "`make crawlers` writes it again");
}

/// The share of texts for which `is` holds.
fn share(texts: &[String], is: impl Fn(&str) -> bool) -> f64 {
    texts.iter().filter(|text| is(text)).count() as f64 / texts.len() as f64
}

#[test]
fn crawlers_of_the_package_itself_are_known() {
    let instances: Vec<String> = crawlers().into_iter().flat_map(|crawler| crawler.instances).collect();
    assert!(instances.len() > 1_900, "{}", instances.len());
    let known = share(&instances, is_crawler);
    assert!(known > 0.99, "{known}");
}

/// The User-Agents of a file of tests of Matomo's device detector.
fn matomo(file: &str) -> String {
    read(&format!(".tools/crawlers/device_detector/tests/fixtures/upstream/{file}"))
}

/// Matomo's crawlers and previews, without monitors, scanners and tools.
const MATOMO_CRAWLERS: [&str; 13] = [
    "AI Agent",
    "AI Assistant",
    "AI Data Scraper",
    "AI Search Crawler",
    "Crawler",
    "Feed Fetcher",
    "Feed Parser",
    "Feed Reader",
    "Read-it-later Service",
    "Search bot",
    "Search tools",
    "Security search bot",
    "Social Media Agent",
];

#[test]
fn crawlers_of_another_list_are_known() {
    #[derive(Deserialize)]
    struct Entry {
        user_agent: String,
        bot: Bot,
    }
    #[derive(Deserialize)]
    struct Bot {
        category: Option<String>,
    }
    let entries: Vec<Entry> = yaml_serde::from_str(&matomo("bots.yml")).unwrap();
    let is_wanted = |entry: &Entry| {
        let category = entry.bot.category.as_deref();
        category.is_some_and(|category| MATOMO_CRAWLERS.contains(&category))
    };
    let crawlers: Vec<String> = entries.into_iter().filter(is_wanted).map(|entry| entry.user_agent).collect();
    assert!(crawlers.len() > 900, "{}", crawlers.len());
    let known = share(&crawlers, is_crawler);
    assert!(known >= 0.95, "{known}");
}

/// At most 2 in 10,000.
const PEOPLE_MISTAKEN: f64 = 0.000_2;

#[test]
fn people_are_not_taken_for_crawlers() {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Device {
        user_agent: String,
    }
    let devices: Vec<Device> = serde_json::from_str(&read("node_modules/user-agents/dist/user-agents.json")).unwrap();
    let visitors: Vec<String> = devices.into_iter().map(|device| device.user_agent).collect();

    let folder = root().join(".tools/crawlers/device_detector/tests/fixtures/upstream");
    let mut models = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if ["smartphone", "phablet", "tablet"].iter().any(|kind| name.starts_with(kind)) {
            let text = matomo(&name);
            let lines = text.lines().filter_map(|line| line.strip_prefix("  user_agent: "));
            models.extend(lines.map(|line| line.trim_matches(['"', '\'']).to_owned()));
        }
    }
    // WhatsApp's own requests are its previews.
    models.retain(|user_agent| !user_agent.starts_with("WhatsApp/"));
    for (people, least) in [(visitors, 10_000), (models, 29_000)] {
        assert!(people.len() >= least, "{}", people.len());
        let mistaken: Vec<&String> = people.iter().filter(|user_agent| is_crawler(user_agent)).collect();
        let allowed = people.len() as f64 * PEOPLE_MISTAKEN;
        assert!(mistaken.len() as f64 <= allowed, "{} of {}: {mistaken:#?}", mistaken.len(), people.len());
    }
}
