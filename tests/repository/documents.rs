//! The documents can be trusted: the README stays short, links and cited files exist, and nothing refers to somebody's
//! machine or to a document outside this repository.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::{files, read, root};

/// The README and everything in `docs/`.
fn documents() -> Vec<String> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| format!("docs/{}", entry.unwrap().file_name().into_string().unwrap()));
    let docs = docs.filter(|path| path.ends_with(".md"));
    let top = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    let mut all: Vec<_> = docs.chain(top.map(str::to_owned)).collect();
    all.sort();
    all
}

/// The text outside blocks of code.
fn prose(document: &str) -> String {
    let mut is_code = false;
    let lines = document.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn headings(document: &str) -> BTreeSet<String> {
    let prose = prose(document);
    let lines = prose.lines().filter_map(|line| line.strip_prefix('#'));
    lines.map(|line| line.trim_start_matches('#').trim().to_owned()).collect()
}

/// A heading as GitHub makes a fragment of it.
fn fragment(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

/// The kinds of files that people write here.
const WRITTEN: [&str; 12] = ["capnp", "env", "js", "lua", "md", "py", "rs", "sh", "toml", "yaml", "go", "php"];

/// Every file of ours that people read or write, with its text.
fn texts() -> Vec<(String, String)> {
    let mut paths = documents();
    for folder in ["src", "tests", "benches", "fixtures", "clients"] {
        let files = files(folder).into_iter();
        let extension = |path: &PathBuf| path.extension()?.to_str().map(str::to_owned);
        let files = files.filter(|path| extension(path).is_some_and(|kind| WRITTEN.contains(&&*kind)));
        paths.extend(files.map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned()));
    }
    let top = [
        "Makefile",
        "Cargo.toml",
        "clippy.toml",
        "rustfmt.toml",
        "openapi.yaml",
        "openapi-dashboard.yaml",
        "wrangler.toml",
    ];
    let ci = [".ci/run", ".ci/step", ".ci/steps", ".ci/test"];
    paths.extend(top.into_iter().chain(ci).map(str::to_owned));
    let text = |path: String| (read(&path), path);
    paths.into_iter().map(text).map(|(text, path)| (path, text)).collect()
}

#[test]
fn the_readme_can_be_read_in_one_sitting() {
    let readme = read("README.md");
    assert!(readme.lines().count() <= 200, "{} lines", readme.lines().count());
    // A command that is pasted stays on its line.
    for line in prose(&readme).lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn each_link_leads_to_a_file_and_a_heading() {
    let mut links = 0;
    for path in documents() {
        let text = prose(&read(&path));
        for target in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = match file {
                "" => path.clone(),
                file => Path::new(&path).parent().unwrap().join(file).to_str().unwrap().to_owned(),
            };
            assert!(root().join(&linked).exists(), "{path}: {target}");
            if !anchor.is_empty() {
                let found = headings(&read(&linked)).iter().any(|heading| fragment(heading) == anchor);
                assert!(found, "{path}: {target}");
            }
            links += 1;
        }
    }
    assert!(links > 20, "{links}");
}

/// Comments and documents cite as `docs/OPERATING.md ("The log")` or `docs/OPERATING.md, "The log"`, with backticks or
/// without.
#[test]
fn each_cited_document_and_heading_is_there() {
    let mut cited = 0;
    for (path, text) in texts() {
        // A citation may run over two lines of a comment.
        let text = text.replace("\n///", "").replace("\n//!", "").replace("\n//", "").replace("\n#", "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = text.as_str();
        while let Some((_, after)) = rest.split_once("docs/") {
            rest = after;
            let name = format!("docs/{}", after.split_inclusive(".md").next().unwrap());
            if !name.ends_with(".md") || name.contains([' ', '*', '{', '"', '(']) {
                continue;
            }
            assert!(root().join(&name).exists(), "{path} cites {name}");
            let cited_at = after.split_once(".md").unwrap().1.trim_start_matches('`');
            let heading = [", \"", " (\""].iter().find_map(|open| cited_at.strip_prefix(open));
            if let Some(heading) = heading.and_then(|heading| heading.split('"').next()) {
                let heading = heading.trim_end_matches(',');
                assert!(headings(&read(&name)).contains(heading), "{path} cites {name}, \"{heading}\"");
            }
            cited += 1;
        }
    }
    assert!(cited > 20, "{cited}");
}

#[test]
fn each_path_that_a_document_names_is_there() {
    let mut named = 0;
    for path in documents() {
        let text = prose(&read(&path));
        for name in text.split('`').skip(1).step_by(2) {
            let is_ours =
                ["src/", "tests/", "benches/", "fixtures/", "clients/", ".ci/"].iter().any(|top| name.starts_with(top));
            if is_ours && !name.contains([' ', '*', '{', '…', '<', '$']) {
                let file = name.split([':', '#']).next().unwrap();
                assert!(root().join(file).exists(), "{path} names {name}");
                named += 1;
            }
        }
    }
    assert!(named > 30, "{named}");
}

/// Documents name items as in: `src/edge/click.rs`, `prepare` and `satisfy`; or: `prepare` in `src/edge/click.rs`.
#[test]
fn each_item_that_a_document_names_with_its_file_is_there() {
    let is_list = |between: &str| matches!(between.trim_matches(['\n', ' ']), "," | "and" | ", and");
    let is_source = |name: &str| name.ends_with(".rs") || name.ends_with(".js");
    let mut named = 0;
    for path in documents() {
        let text = prose(&read(&path));
        // Text and names take turns, so a name has an odd index.
        let parts: Vec<_> = text.split('`').collect();
        for at in (1..parts.len() - 1).step_by(2).filter(|at| is_source(parts[*at])) {
            let Ok(source) = fs::read_to_string(root().join(parts[at])) else {
                continue;
            };
            // An item followed by "in" or "of" and another file belongs to that file.
            let is_elsewhere = |item: usize| {
                let next = parts.get(item + 2).is_some_and(|name| is_source(name));
                next && matches!(parts[item + 1].trim(), "in" | "of")
            };
            let after =
                (at + 2..parts.len()).step_by(2).take_while(|next| is_list(parts[next - 1]) && !is_elsewhere(*next));
            let is_before = matches!(parts[at - 1].trim(), "in" | "of");
            let before = (1..at).rev().skip(1).step_by(2).enumerate();
            let before = before.take_while(|(skipped, next)| is_before && (*skipped == 0 || is_list(parts[next + 1])));
            let is_item = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
            let items = after.chain(before.map(|(_, next)| next)).map(|next| parts[next]);
            for item in items.take_while(is_item) {
                for word in item.split("::") {
                    let mut words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
                    assert!(words.any(|found| found == word), "{path}: {item} in {}", parts[at]);
                }
                named += 1;
            }
        }
    }
    assert!(named > 60, "{named}");
}

/// Words that mean something only to whoever wrote them. They are put together here, so that this file has none.
#[test]
fn nothing_names_a_machine_or_a_document_that_is_not_here() {
    let unwanted = [
        ["/wo", "rk/"],
        ["/ho", "me/"],
        ["/ro", "ot/"],
        ["shared/", "spec"],
        ["design", ".md"],
        ["platform", ".md`"],
        ["house", ".md"],
        ["sub-", "agent"],
        ["artif", "actory"],
        ["registry ", "mirror"],
        ["farm", "-bench"],
        ["farm", "-studio"],
    ]
    .map(|parts| parts.concat());
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            for word in &unwanted {
                assert!(!line.contains(word.as_str()), "{path}:{}: {line}", number + 1);
            }
        }
    }
}

/// The cells of a row of a table; `None` for any other line.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

/// The rows of the first table after a heading, without those of its head.
fn table<'t>(text: &'t str, heading: &str) -> Vec<Vec<&'t str>> {
    let (_, after) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let lines = after.lines().skip_while(|line| !line.starts_with('|'));
    lines.map_while(cells).skip(2).collect()
}

/// The numbers of a text, without separators of thousands and without zeros at the end of decimals.
fn numbers(text: &str) -> Vec<String> {
    let text = text.replace(',', "");
    let parts = text.split(|char: char| !char.is_ascii_digit() && char != '.');
    let parts = parts.filter(|part| part.contains(|char: char| char.is_ascii_digit()));
    let whole = |part: &str| match part.trim_matches('.') {
        part if part.contains('.') => part.trim_end_matches('0').trim_end_matches('.').to_owned(),
        part => part.to_owned(),
    };
    parts.map(whole).collect()
}

#[test]
fn the_readmes_figures_are_rows_of_the_last_results() {
    let (readme, performance) = (read("README.md"), read("docs/PERFORMANCE.md"));
    let results = table(&performance, "Results");
    let figures = table(&readme, "Speed");
    assert_eq!(figures.len(), 6);
    for figure in figures {
        let [_, measured, _, outcome] = figure[..] else {
            panic!("{figure:?}");
        };
        let shown = numbers(measured);
        assert!(!shown.is_empty(), "{figure:?}");
        let is_source = |row: &Vec<&str>| {
            let known = numbers(&row[1..row.len() - 2].join(" "));
            shown.iter().all(|number| known.contains(number)) && row.last() == Some(&outcome)
        };
        assert!(results.iter().any(is_source), "no row of docs/PERFORMANCE.md has {figure:?}");
    }
    let count = |outcome: &str| {
        let rows = results.iter().filter(|row| row.last().unwrap().starts_with(outcome));
        rows.count()
    };
    let [met, missed, not_shown] = ["met", "**missed**", "**not shown**"].map(count);
    let summary = format!(
        "Of {} targets {met} are met, {missed} are missed, and {not_shown} is not shown.",
        met + missed + not_shown
    );
    assert!(readme.contains(&summary), "{summary}");
}

/// A promise without a test is a hope.
#[test]
fn each_promise_names_a_test_that_is_there() {
    let security = read("SECURITY.md");
    assert!(security.lines().count() <= 160);
    let sources: String = texts().into_iter().filter(|(path, _)| path.ends_with(".rs")).map(|(_, text)| text).collect();
    let promises = table(&security, "Promises");
    assert!(promises.len() >= 40, "{}", promises.len());
    for promise in promises {
        let [_, test] = promise[..] else {
            panic!("{promise:?}");
        };
        let name = test.trim_matches('`').rsplit("::").next().unwrap_or_default();
        assert!(sources.contains(&format!("fn {name}(")), "{promise:?}");
    }
}

#[test]
fn operating_and_the_console_list_every_concurrency_limit() {
    let operating = read("docs/OPERATING.md");
    let (_, table) = operating.split_once("| `kind` | limits |").expect("the table of limits");
    let table = table.split("\n\n").next().expect("its rows");
    let listed: BTreeMap<&str, usize> = table
        .lines()
        .skip(2)
        .map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            (cells[1].trim_matches('`'), cells[3].replace(',', "").parse().expect("permits"))
        })
        .collect();
    let (edge, origin) = (edge::limits::Pools::default(), origin::http::limits::Pools::default());
    let pools = edge.each().chain(origin.each());
    let pools: BTreeMap<_, _> = pools.map(|(name, pool)| (name, pool.limit().permits)).collect();
    assert_eq!(listed, pools);

    let service = read("src/web/console/messages/service.ts");
    let (_, names) = service.split_once("    names: {\n").expect("the pools' names");
    let (names, _) = names.split_once('}').expect("their end");
    let named: BTreeSet<&str> = names.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    assert_eq!(named, pools.into_keys().collect());
}
