//! The documents can be trusted: the README stays short, links and cited files lead somewhere, and nothing names what is
//! on somebody's machine or in a document that is not in this repository.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{read, root, sources};

/// The README and everything in `docs/`.
fn documents() -> Vec<String> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| format!("docs/{}", entry.unwrap().file_name().into_string().unwrap()));
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
    lines
        .map(|line| line.trim_start_matches('#').trim().to_owned())
        .collect()
}

/// A heading as GitHub makes a fragment of it.
fn fragment(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars()
        .filter(|c| c.is_alphanumeric() || "-_".contains(*c))
        .collect()
}

/// Every file of ours that people read or write.
fn texts() -> Vec<(String, String)> {
    let mut paths = documents();
    for folder in ["src", "tests", "benches"] {
        let files = sources(folder).into_iter();
        paths.extend(files.map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned()));
    }
    paths.extend(
        [
            "Makefile",
            "Cargo.toml",
            "openapi.yaml",
            "wrangler.toml",
            "src/origin/wrangler.toml",
            "src/edge/entry.js",
            "src/edge/fair_queue.js",
            "fixtures/local/run.sh",
            "fixtures/local/workerd.capnp",
            ".ci/run",
            ".ci/step",
            ".ci/steps",
        ]
        .map(str::to_owned),
    );
    paths
        .into_iter()
        .map(|path| (read(&path), path))
        .map(|(text, path)| (path, text))
        .collect()
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
        for target in text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap())
        {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = match file {
                "" => path.clone(),
                file => Path::new(&path)
                    .parent()
                    .unwrap()
                    .join(file)
                    .to_str()
                    .unwrap()
                    .to_owned(),
            };
            assert!(root().join(&linked).exists(), "{path}: {target}");
            if !anchor.is_empty() {
                let found = headings(&read(&linked))
                    .iter()
                    .any(|heading| fragment(heading) == anchor);
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
        // A citation may be broken over two lines of a comment.
        let text = text
            .replace("\n///", "")
            .replace("\n//!", "")
            .replace("\n//", "")
            .replace("\n#", "");
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
            let heading = [", \"", " (\""]
                .iter()
                .find_map(|open| cited_at.strip_prefix(open));
            if let Some(heading) = heading.and_then(|heading| heading.split('"').next()) {
                let heading = heading.trim_end_matches(',');
                assert!(
                    headings(&read(&name)).contains(heading),
                    "{path} cites {name}, \"{heading}\""
                );
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
            let is_ours = ["src/", "tests/", "benches/", "fixtures/", ".ci/"]
                .iter()
                .any(|top| name.starts_with(top));
            if is_ours && !name.contains([' ', '*', '{', '…', '<', '$']) {
                let file = name.split([':', '#']).next().unwrap();
                assert!(root().join(file).exists(), "{path} names {name}");
                named += 1;
            }
        }
    }
    assert!(named > 30, "{named}");
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
