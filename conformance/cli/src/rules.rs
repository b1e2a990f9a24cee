//! `turnfold rules` and `turnfold explain`: the rule book at hand.

use std::{fmt::Write, process::ExitCode};

use turnfold_spec::{RULES, Rule};

use crate::{
    failure::Failure,
    print::print,
    show::{self, wrapped},
    verify::unknown_rule,
};

/// List every rule of the spec
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold rules --json")]
pub(crate) struct ListArgs {
    /// Print the rules as a JSON array
    #[arg(long)]
    json: bool,
}

/// Explain one rule: its sentence, where it comes from, an example
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold explain cut.forward")]
pub(crate) struct ExplainArgs {
    /// The rule's id
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) fn list(args: &ListArgs) -> Result<ExitCode, Failure> {
    if args.json {
        let rules: Vec<serde_json::Value> = RULES.iter().map(as_json).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&rules).map_err(Failure::harness)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for rule in RULES.iter() {
        let rows = wrapped(&rule.sentence, 84);
        for (nth, row) in rows.iter().enumerate() {
            if nth == 0 {
                let _ = writeln!(text, "{:<24} {:<10}  {row}", rule.id, rule.standing.as_str());
            } else {
                let _ = writeln!(text, "{:37}{row}", "");
            }
        }
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(rule: &Rule) -> serde_json::Value {
    serde_json::json!({
        "id": rule.id,
        "standing": rule.standing.as_str(),
        "sentence": rule.sentence,
        "source": rule.source,
        "note": rule.note,
        "example": rule.example,
    })
}

pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let rule = Rule::find(&args.id).ok_or_else(|| unknown_rule(&args.id))?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}  {} · {}",
        show::paint(anstyle::Style::new().bold(), &rule.id),
        show::standing(rule.standing),
        rule.source
    );
    let _ = writeln!(text);
    for row in wrapped(&rule.sentence, 96) {
        let _ = writeln!(text, "  {row}");
    }
    if let Some(note) = &rule.note {
        let _ = writeln!(text);
        for row in wrapped(note, 96) {
            let _ = writeln!(text, "  {}", show::paint(anstyle::Style::new().dimmed(), row));
        }
    }
    let _ = writeln!(text);
    for row in rule.example.lines() {
        let _ = writeln!(text, "    {row}");
    }
    let _ = writeln!(text);
    let _ = writeln!(text, "  turnfold verify --rule {} -- YOUR-PROGRAM", rule.id);
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
