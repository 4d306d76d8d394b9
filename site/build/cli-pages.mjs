// Writes the pages of the command-line programs from the commander objects that parse their arguments.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compiled, ROOT } from "./paths.mjs";

const PROGRAMS = [
  ["cli/train.js", "refusion-train"],
  ["cli/eval.js", "refusion-eval"],
];

/** Loads a program up to the point where it would parse its arguments. */
async function programOf(path) {
  const commander = createRequire(join(ROOT, "package.json")).resolve("commander");
  const { Command } = await import(pathToFileURL(commander).href);
  const { parseAsync } = Command.prototype;
  try {
    return await new Promise((found, failed) => {
      Command.prototype.parseAsync = async function () {
        found(this);
        return this;
      };
      compiled(path).catch(failed);
    });
  } finally {
    Command.prototype.parseAsync = parseAsync;
  }
}

const plain = (text) => text.replace(/[<>{}]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/\s+/g, " ");
const cell = (text) => plain(text).replaceAll("|", "\\|");
const sentence = (text) =>
  plain(text === "" ? "" : `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`);

function optionTable(title, rows) {
  if (rows.length === 0) return "";
  return `## ${title}\n\n| | |\n|---|---|\n${rows.map(([name, text]) => `| \`${name.replaceAll("|", "\\|")}\` | ${cell(text)} |`).join("\n")}\n\n`;
}

/** Reads the text that commander adds before and after the help. */
function addedText(command) {
  const texts = [];
  for (const event of ["beforeHelp", "afterHelp"])
    command.emit(event, { error: false, command, write: (text) => texts.push(text) });
  return texts.join("").trim();
}

/** Writes the keys of a config, one table per section. */
function keyTables(keys) {
  const sections = new Map(
    keys.map(({ path: [section] }) => [section, keys.filter(({ path }) => path[0] === section)]),
  );
  const row = ({ path, type, default: preset, description }) =>
    `| \`${path.join(".")}\` | ${preset === undefined ? `*${cell(type)}*` : `\`${cell(JSON.stringify(preset))}\``} | ${cell(description)} |`;
  return [...sections]
    .map(([section, own]) => [section, own.filter(({ type }) => type !== "section")])
    .map(([section, own]) => `## ${section}\n\n| key | default | |\n|---|---|---|\n${own.map(row).join("\n")}\n`)
    .join("\n");
}

function pageOf(command, program, keys) {
  const help = command.createHelp();
  const usage = help.commandUsage(command);
  const added = addedText(command);
  const example = /(?:Example|Examples|Start here):\n((?: {2}.*(?:\n|$))+)/.exec(added)?.[1];
  const rest = added.replace(/(?:Example|Examples|Start here):\n((?: {2}.*(?:\n|$))+)/, "").trim();
  const own = keys && `refusion-train ${command.name()} --config configs/tiny/quickstart.yaml training.steps=40`;
  const first = own ?? (example === undefined ? usage : example.replace(/^ {2}/gm, "").trim());
  const option = ({ flags, description, defaultValue, argChoices }) => [
    flags,
    `${description}${argChoices === undefined ? "" : ` (${argChoices.join(", ")})`}${defaultValue === undefined ? "" : `; default ${defaultValue}`}`,
  ];
  return [
    `# ${command === program ? "" : `${program.name()} `}${command.name()}\n`,
    `\`\`\`\n${first}\n\`\`\`\n`,
    `${sentence(help.commandDescription(command))}\n`,
    first === usage ? "" : `\`\`\`\n${usage}\n\`\`\`\n`,
    optionTable(
      "Arguments",
      help.visibleArguments(command).map((argument) => [argument.name(), argument.description]),
    ),
    optionTable("Options", help.visibleOptions(command).map(option)),
    keys === undefined ? "" : `Every other key of the config: [config](./config.md).\n\n${keyTables(keys)}`,
    rest === "" ? "" : `## More\n\n\`\`\`\n${rest}\n\`\`\`\n`,
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** Writes one page per command. @returns the sidebar's groups. */
export async function writeCliPages(pages) {
  const out = join(pages, "cli");
  mkdirSync(out, { recursive: true });
  const groups = [];
  const { loadRegistries } = await compiled("config/registries.js");
  const { configKeys, runSchema } = await compiled("config/schema.js");
  const registries = await loadRegistries();
  const keysOf = (objective) => configKeys(runSchema(registries, objective, {}));
  const isOwn = ({ path: [section] }) => section === "objective";
  writeFileSync(
    join(out, "config.md"),
    `# Keys of a config\n\n\`\`\`\nrefusion-train flow-grpo --help\n\`\`\`\n\nEvery key with its default, as \`key=value\` on the command line or in the YAML. Those of the section \`objective\` stand on the page of each objective's command.\n\n${keyTables(keysOf(undefined).filter((key) => !isOwn(key)))}`,
  );
  const index = ["# Commands\n", "```\nrefusion-train --help\n```\n"];
  for (const [path, name] of PROGRAMS) {
    const program = await programOf(path);
    for (const command of program.commands)
      command.description(registries.objectives.get(command.name())?.description ?? command.description());
    const { commands } = program;
    const items = [program, ...commands].map((command) => {
      const file = command === program ? name : `${name}-${command.name()}`;
      const own = registries.objectives.has(command.name()) ? keysOf(command.name()).filter(isOwn) : undefined;
      writeFileSync(join(out, `${file}.md`), pageOf(command, program, own));
      return {
        text: command === program ? name : command.name(),
        link: `/cli/${file}`,
        about: sentence(command.createHelp().commandDescription(command)),
      };
    });
    index.push(
      `## ${name}\n`,
      "| command | |\n|---|---|",
      ...items.map(
        ({ text, link, about }) => `| [${text}](${link.replace("/cli/", "./")}.md) | ${about.replaceAll("|", "\\|")} |`,
      ),
      "",
    );
    groups.push({ text: name, collapsed: false, items: items.map(({ text, link }) => ({ text, link })) });
  }
  index.splice(2, 0, "[Every key of a config](./config.md) with its default.\n");
  groups.unshift({
    text: "Commands",
    items: [
      { text: "All", link: "/cli/" },
      { text: "Keys of a config", link: "/cli/config" },
    ],
  });
  writeFileSync(join(out, "index.md"), index.join("\n"));
  return groups;
}
