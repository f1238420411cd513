package dev.writ.tools.error;

import dev.writ.canonicalize.ErrorCode;

/**
 * The refusals of this module. A failure of a running tool is no refusal: it becomes an outcome
 * with a reason (spec/tool-wasm.md has the list).
 */
public enum ToolsError implements ErrorCode {
  DRIVER_MISMATCH(
      "TOL-001", "a manifest asks for another driver", "Send it to the driver that it names."),
  OPERATION_UNKNOWN(
      "TOL-002", "a tool has no such operation", "Name an operation of the tool's manifest."),
  PROFILE_UNKNOWN(
      "TOL-003", "a driver has no such sandbox profile", "Name the profile wasm for these tools."),
  NOT_PURE(
      "TOL-004",
      "a manifest promises or asks for what a WebAssembly tool cannot have",
      "Leave paths, environment, network and workspace out and promise at most pure."),
  DRIVERS_CLOSED("TOL-005", "the drivers are closed", "Open a new set of drivers."),

  MODULE_MISSING(
      "TOL-010", "a package has no single WebAssembly module", "Pack exactly one .wasm file."),
  MODULE_INVALID(
      "TOL-011", "a WebAssembly module cannot be used", "Build it as spec/tool-wasm.md says."),
  MODULE_FEATURE(
      "TOL-012",
      "a WebAssembly module uses a feature that is not offered here",
      "Build it for WebAssembly 2.0 without SIMD, threads, exceptions and garbage collection."),
  IMPORT_UNKNOWN(
      "TOL-013",
      "a WebAssembly module imports what is not offered here",
      "Import functions of wasi_snapshot_preview1 only, with their exact types."),
  EXPORT_MISSING(
      "TOL-014",
      "a WebAssembly module lacks an entry point",
      "Export _start, or a function without parameters for each operation."),
  FILES_UNEXPECTED(
      "TOL-015", "a package of this driver holds other files than it may", "Remove the files."),

  TOOL_UNKNOWN("TOL-020", "a tool is not registered", "Register it, or name another version."),
  TOOL_NAME(
      "TOL-021",
      "a tool's name or version is not allowed",
      "Use 1 to 64 of a-z, 0-9, dot, hyphen, underscore, beginning with a letter or digit."),
  TOOL_EXISTS(
      "TOL-022",
      "a tool of this name and version is registered with other content",
      "Give the changed tool a new version."),
  PACKAGE_PATH(
      "TOL-023",
      "a path of a package is not allowed",
      "Use relative paths of plain names, and regular files."),
  PACKAGE_FILES(
      "TOL-024",
      "a package's files are not those that its manifest lists",
      "Name a package or a project of a tool; list each of its files once."),
  PACKAGE_CONTENT(
      "TOL-025",
      "a package's content does not match its digest",
      "Restore the file, or register the changed tool as a new version."),
  PACKAGE_TOO_LARGE(
      "TOL-026", "a package is too large", "Keep it under the limits of spec/tool-wasm.md."),
  PACKAGE_IO(
      "TOL-027", "a package cannot be read or written", "Correct the directory and try again."),
  MANIFEST_INVALID(
      "TOL-028", "a manifest is not usable", "Correct the manifest as the message says."),

  INPUT_TOO_LARGE(
      "TOL-030",
      "an input is too large to be handed to a process",
      "Send at most 64 MiB for each input."),
  PROCESSES_ABSENT(
      "TOL-031",
      "no process is started here",
      "Run the tool in a data directory, or replay it with --live."),
  CLOCK_UNFIXED(
      "TOL-032",
      "this host cannot fix the clock that a reproducible program sees",
      "Install libfaketime: apt-get install faketime."),

  SECRET_NAME(
      "TOL-040",
      "a secret's name is not allowed",
      "Use 1 to 64 of letters, digits, dot, underscore, hyphen, beginning with neither dot nor"
          + " hyphen."),
  SECRET_UNKNOWN("TOL-041", "there is no such secret", "Store it: writ secret put NAME."),
  SECRET_EXPOSED(
      "TOL-042",
      "others can read or write a secret",
      "Replace the secret, since others may have read it; keep files at mode 0600, their"
          + " directory at 0700."),
  SECRET_SIZE(
      "TOL-043",
      "a secret is too short or too long",
      "Use 8 bytes to 64 KiB: what is shorter could not be masked."),
  SECRET_IO("TOL-044", "secrets cannot be read or written", "Correct the directory and try again."),
  ARTIFACT_PATTERN(
      "TOL-045",
      "a pattern of artifacts is not allowed",
      "Use at most 32 relative paths of plain names, with *, ? and ** as spec/tool-exec.md says."),

  COMMAND_NAME(
      "TOL-050",
      "a command's name is not valid",
      "Name programs by their plain names, without a directory."),
  MOUNT(
      "TOL-051",
      "a directory of this host cannot become the workspace",
      "Set WORKSPACE_ROOT and, where policy has several tenants, workspaces; bring a directory"
          + " without inputs, secrets and approval (spec/tool-exec.md)."),

  GIT_URL(
      "TOL-070",
      "a URL is not one that git_cli accepts",
      "Write https://host[:port]/path, without user and query; spec/tool-git.md has the rules."),
  GIT_REVISION(
      "TOL-071",
      "the name of a branch, tag or commit is not one that git_cli accepts",
      "Write it as spec/tool-git.md says."),
  GIT_PATH(
      "TOL-072",
      "a path is not one that git_cli accepts",
      "Name paths below the workspace and outside .git."),
  GIT_TEXT(
      "TOL-073", "a message or a person cannot stand in a commit as it is", "Write plain text."),
  GIT_REPOSITORY(
      "TOL-074",
      "a repository contains something that could run, or that leads outside it",
      "Remove what the message names, or clone it again."),
  GIT_CONFIG(
      "TOL-075",
      "a repository's configuration has entries that git itself does not write",
      "Remove what the message names, or clone it again."),
  GIT_CREDENTIAL(
      "TOL-076",
      "a credential cannot be used for this call",
      "Store https://user:password@host as the secret, for the host of the URL."),
  GIT_MISSING("TOL-077", "git is not on this host", "Install it: apt-get install git."),
  BROWSER_MISSING(
      "TOL-060",
      "a program that the browser tool needs is not on this host",
      "Install it (Debian: apt-get install chromium nodejs)."),
  BROWSER_PARAMS(
      "TOL-061",
      "the parameters of a browser call do not fit together",
      "Correct what the message names; spec/tool-browser.md has the rules."),
  BROWSER_FILES(
      "TOL-062",
      "this build of Writ does not have the files of the browser tool",
      "Build it again; what tools/pom.xml unpacks must be what playwright.tsv says."),

  SOURCE_INVALID(
      "TOL-201",
      "a tool.manifest or tool.lock cannot be used",
      "Correct the file at the place that the message names."),
  SOURCE_FORMAT(
      "TOL-202",
      "a tool.manifest or tool.lock has a form of a later release",
      "Write format: 1, or use the release that the tool was made for."),
  ENTRY_MISSING(
      "TOL-203", "a package has no file of its entry's name", "Add the file, or correct `entry`."),
  LOCK_INCOMPLETE(
      "TOL-204",
      "tool.lock and the files below vendor/ do not agree",
      "Write it again: writ tool lock FOLDER."),
  LOCK_DIGEST(
      "TOL-205",
      "a file below vendor/ is not what tool.lock says",
      "Restore the file, or find out what changed and write the lock again: writ tool lock"
          + " FOLDER."),
  ARCHIVE_FORM(
      "TOL-206",
      "a package file is not in the canonical form of packages",
      "Make it with `writ tool package`."),
  PACKAGE_UNSIGNED(
      "TOL-207", "a package is not signed", "Sign it with `writ tool sign`, as a publisher."),
  PACKAGE_DIFFERS(
      "TOL-208",
      "a package's signed manifest does not match its files",
      "Package and sign the tool again."),
  PROJECT_EXISTS("TOL-209", "a project's folder exists already", "Name another one, or remove it."),
  SOURCE_UNREADABLE(
      "TOL-210", "a file of a tool is no program of its language", "Correct the file."),
  MODULE_PROHIBITED(
      "TOL-211",
      "a tool uses a module that it may not use",
      "Leave it out, add the module below vendor/, or declare the capability that it needs."),
  RUNTIME_UNSUPPORTED(
      "TOL-212",
      "a tool is written for a runtime that this release does not support",
      "Write a `runtime` that spec/tool-package.md lists."),
  RUNTIME_MISMATCH(
      "TOL-213",
      "this host's runtime is not one that a tool may run on",
      "Install a version that fits, or adapt the tool to this one and widen its `runtime`."),
  RUNTIME_MISSING(
      "TOL-214", "a language's runtime is not on this host", "Install it, as writ doctor says."),
  LOCK_METADATA(
      "TOL-215",
      "nothing says which library a file below vendor/ belongs to",
      "Name it: writ tool lock FOLDER --dependency NAME@VERSION=vendor/PATH."),
  CAPABILITY_ABOVE_POLICY(
      "TOL-217",
      "a tool declares more than the policy's governance allows",
      "Declare less, or have the policy's governance.ceiling raised."),
  SOURCE_ENCODING(
      "TOL-218",
      "a source file does not read the same for a person, a parser and the language's runtime",
      "Save it as UTF-8 without a byte order mark, and take out what the message names."),
  COMPILED_FILE(
      "TOL-219",
      "a package holds what its language could load and no parser reads",
      "Leave the file out; name a jar below vendor/ under `compiled` in tool.manifest."),
  ENTRY_FORM(
      "TOL-220",
      "a package's entry is no source file of its language",
      "Name a file with an ending that spec/tool-package.md lists."),
  LIBRARY_NOT_APPROVED(
      "TOL-221",
      "a tool carries a library that the policy's governance does not list",
      "Take the listed version, or have name, version and digest added to governance.libraries."),
  LIBRARY_MISNAMED(
      "TOL-222",
      "a library's own data does not agree with tool.lock",
      "Write the lock again: writ tool lock FOLDER; keep libraries below vendor/."),

  UPSTREAM_NAME(
      "TOL-230",
      "a name of an MCP server is taken, or cannot be one",
      "Take another name: 1 to 48 of a-z, 0-9 and hyphen, beginning with a letter."),
  UPSTREAM_TOOL(
      "TOL-231",
      "an MCP server lists tools that cannot be governed: too many, two of one name, or a name that"
          + " no operation can have",
      "Have the server list fewer, and name them apart, with letters, digits and . _ / - alone."),
  UPSTREAM_CHANGED(
      "TOL-232",
      "an MCP server lists other tools than those that were approved",
      "See the difference and approve it: writ mcp refresh NAME."),
  UPSTREAM_START(
      "TOL-233",
      "an MCP server does not start, or does not shake hands",
      "Start its command by itself, and see what it says; where it was added before: writ mcp test"
          + " NAME."),
  UPSTREAM_VERSION(
      "TOL-234",
      "an MCP server speaks no version of the protocol that this release speaks",
      "Update the server, or Writ."),
  UPSTREAM_MESSAGE(
      "TOL-235",
      "an MCP server sent what is no message of the protocol, or not at that place",
      "Report it to those who made the server; where it was added before, writ mcp test NAME shows"
          + " it."),
  UPSTREAM_FLOOD(
      "TOL-236", "an MCP server sent more than it may", "See the limits in spec/tool-mcp.md."),
  UPSTREAM_TIMEOUT(
      "TOL-237",
      "an MCP server did not answer in time",
      "Declare more time, or give it more to start: writ mcp add --start-s N."),
  UPSTREAM_PACKAGE(
      "TOL-238",
      "a package of an MCP server cannot be used",
      "Add the server again: writ mcp add."),
  UPSTREAM_HIDDEN(
      "TOL-239",
      "a description of an MCP server has characters that nobody can see",
      "Read what they hide; where that is harmless: writ mcp add --accept-hidden."),
  UPSTREAM_ENDED(
      "TOL-240",
      "an MCP server ended",
      "See why: writ mcp test NAME; it is started again for the next call."),
  UPSTREAM_BUSY(
      "TOL-241",
      "too many MCP servers run already",
      "Wait until one is idle; spec/tool-mcp.md says how many may run."),
  UPSTREAM_CPU(
      "TOL-242",
      "an MCP server used more processor time than the call may",
      "Declare more processor time."),
  UPSTREAM_PASSES(
      "TOL-243",
      "what an MCP server is to pass is not known",
      "Name some of completion, elicitation, logging, prompts, resources, roots and sampling."),
  UPSTREAM_OFFERS(
      "TOL-244",
      "an MCP server does not have what its package is to pass",
      "Leave it out of --pass, or start the server so that it offers it."),
  UPSTREAM_ADDRESS(
      "TOL-245",
      "the address of a resource does not mean what it says",
      "Name an absolute address without segments . and .., and none of Writ's own."),
  UPSTREAM_TURN(
      "TOL-246",
      "the call had no turn at its MCP server, whose calls run one after another",
      "Repeat it; spec/tool-mcp-passing.md says why they do."),
  UPSTREAM_QUESTION(
      "TOL-247",
      "an MCP server asked what may not be asked of a client",
      "See the rules of questions in spec/tool-mcp-passing.md."),
  UPSTREAM_BROKE(
      "TOL-248",
      "an MCP server elsewhere, or a gateway before it, failed at a request",
      "See the server's own log, whether it was done; a call in doubt ends by writ resolve."),
  HTTP_DESCRIPTION(
      "TOL-250",
      "an operation does not describe one request",
      "Correct the operation's `http` section, or its input schema, as spec/tool-http.md says."),
  HTTP_SERVER(
      "TOL-251",
      "a server is not one that a tool may name",
      "Write https://host[:port][/path] without variables; name this machine with --server."),
  HTTP_VALUE(
      "TOL-252",
      "a value cannot stand in a request where it belongs",
      "Send a value without slashes, dots alone and control characters; nothing was sent."),
  HTTP_CREDENTIAL(
      "TOL-253",
      "a secret cannot be sent as the tool declares",
      "Store it in the form that spec/tool-http.md says."),
  OPENAPI_SYNTAX(
      "TOL-254",
      "a file is no YAML or JSON that is read here",
      "Write it without anchors, tags and duplicate keys, in UTF-8, within the limits of"
          + " spec/tool-http.md."),
  OPENAPI_VERSION(
      "TOL-255", "a file is no OpenAPI document of 3.0 or 3.1", "Convert it to 3.0 or 3.1."),
  OPENAPI_REFERENCE(
      "TOL-256",
      "a reference of an OpenAPI document leads out of it, in a circle or nowhere",
      "Bundle the document into one file; nothing is fetched."),
  OPENAPI_FORM(
      "TOL-257",
      "an OpenAPI document does not have the form of its version",
      "Correct it at the place that the message names."),
  OPENAPI_NAME(
      "TOL-258",
      "an operation of an OpenAPI document has no name of its own",
      "Give each operation its own operationId: a letter, and up to 63 letters, digits, hyphens and"
          + " underscores."),
  OPENAPI_PATH(
      "TOL-259",
      "a path of an OpenAPI document could be left by the values that go into it",
      "Write plain segments and {names}, without percent signs, dots and queries."),
  OPENAPI_TOO_LARGE(
      "TOL-260",
      "an OpenAPI document has more operations than a tool may have",
      "Choose some: --only TAG,operationId."),
  OPENAPI_NOTHING(
      "TOL-261",
      "nothing of an OpenAPI document can become a tool",
      "Name tags or operationIds that it has; the message says what was left out."),
  OPENAPI_UNHELD(
      "TOL-262",
      "an operation uses what the driver http does not do",
      "Leave it out, or write its `http` section by hand."),
  UPSTREAM_INPUT(
      "TOL-270",
      "an MCP server asks for input that its package does not pass",
      "The call was not done by its own words; spec/tool-mcp-remote.md says what is passed."),
  UPSTREAM_UNREACHED(
      "TOL-271",
      "a server elsewhere cannot be reached by the rules of the egress proxy",
      "Nothing was sent. Check the address; WRIT_EGRESS_PRIVATE lists places that may be private."),
  UPSTREAM_SESSION(
      "TOL-272",
      "an MCP server has forgotten its session",
      "Call again: a new session is begun; by the protocol nothing was done."),
  UPSTREAM_STATUS(
      "TOL-273",
      "an MCP server elsewhere answers with a status that is none of the protocol",
      "Check the address, and the server's own log: writ mcp test NAME."),
  UPSTREAM_REDIRECT(
      "TOL-274",
      "an MCP server elsewhere leads to another address, which is not followed",
      "If that is the server, add it under that address."),
  UPSTREAM_OLD_TRANSPORT(
      "TOL-275",
      "an MCP server speaks the transport HTTP with SSE of 2024-11-05 alone",
      "Ask for its address of Streamable HTTP, or update it: that transport is not spoken here."),
  UPSTREAM_URL(
      "TOL-276",
      "an address is not one that an MCP server may have",
      "Write https://host[:port]/path; http is for 127.0.0.1 and this machine's other addresses."),
  UPSTREAM_HEADER(
      "TOL-277",
      "a header cannot be sent to an MCP server",
      "Take a name that the protocol does not use, and visible ASCII."),
  UPSTREAM_UNAUTHORIZED(
      "TOL-278",
      "an MCP server wants to know who calls",
      "Log in: writ mcp login NAME; or give it a token: writ mcp add --header-secret."),
  UPSTREAM_SCOPE(
      "TOL-279",
      "an MCP server wants scopes that the token does not have",
      "If it may have them: writ mcp login NAME --scope \"…\"."),
  OAUTH_METADATA(
      "TOL-280",
      "an authorization server, or an MCP server that wants tokens, does not describe itself",
      "Ask those who run it for RFC 9728 and RFC 8414; or use a token: --header-secret."),
  OAUTH_ISSUER(
      "TOL-281",
      "an answer of an authorization server is of another one than was asked",
      "Nothing was sent to it. Ask those who run the MCP server who gives tokens for it."),
  OAUTH_RESOURCE(
      "TOL-282",
      "an MCP server's description is about another server",
      "Nothing was asked for. Add the server under the address that it describes."),
  OAUTH_PKCE(
      "TOL-283",
      "an authorization server does not say that it knows PKCE with S256",
      "MCP demands it. Ask those who run it; or use a token: --header-secret."),
  OAUTH_ENDPOINT(
      "TOL-284",
      "an endpoint of OAuth is not https, or at an origin that nobody allowed",
      "If that origin may see tokens: --oauth-origin ORIGIN."),
  OAUTH_CLIENT(
      "TOL-285",
      "Writ cannot become a client of an authorization server",
      "Register it there by hand: --client-id ID, with --client-secret-ref SECRET if it has one."),
  OAUTH_REFUSED(
      "TOL-286",
      "an authorization server refuses",
      "Its error says why; log in again: writ mcp login NAME."),
  OAUTH_RESPONSE(
      "TOL-287",
      "what a browser came back with is not the answer to this login",
      "Log in again, and take the address of the last page: writ mcp login NAME."),
  OAUTH_TOKEN_ANSWER(
      "TOL-288",
      "an authorization server gives what is no bearer token",
      "Ask those who run it; or use a token: --header-secret."),
  OAUTH_TOKENS(
      "TOL-289",
      "the tokens for an MCP server can no longer be used",
      "Log in again: writ mcp login NAME."),
  NPM_MISSING(
      "TOL-290",
      "a server is of npm, and this machine has no node or npm that works",
      "Install both (Debian: apt-get install nodejs npm), so that `node` and `npm` are on PATH."),
  NPM_PACKAGE(
      "TOL-291",
      "npm does not have a package, or not that version of it",
      "Look its name and versions up: npm view PACKAGE versions."),
  NPM_UNREACHABLE(
      "TOL-292",
      "npm's registry cannot be reached, or refuses the credentials",
      "Try `npm ping`; the registry is the one of npm's own configuration, reached without another"
          + " proxy."),
  NPM_INTEGRITY(
      "TOL-293",
      "what npm got is not what its registry has the digest of",
      "Nothing was added. Try again; if it stays so, report it to those who run the registry."),
  NPM_FAILED(
      "TOL-294",
      "npm could not install a server",
      "Try it by hand: npm install --ignore-scripts PACKAGE."),
  NPM_SCRIPTS(
      "TOL-295",
      "a server of npm does not start, and packages of it have install scripts, which are not run",
      "Install it yourself in a folder, with scripts, and add that:"
          + " writ mcp add NAME --code FOLDER -- COMMAND."),
  CODE_UNPINNED(
      "TOL-296",
      "a command would start code that its package does not have",
      "See spec/tool-mcp.md, The code: what npm has is pinned, and so is a folder."),
  NPM_PROGRAM(
      "TOL-297",
      "a package of npm has no program of its name that node runs",
      "Name the program: npx -y -p PACKAGE PROGRAM."),
  CODE_UNPACKABLE(
      "TOL-298",
      "a server's code cannot be part of a package",
      "Add a folder with what the server needs alone; spec/tool-mcp.md has the limits."),
  FOLDER_UNSEEN(
      "TOL-299",
      "a command names a folder or file of this machine that the server would not see",
      "Say what it may see, before `--`: --read PATH, or --write FOLDER where it may change what is"
          + " there."),
  UPSTREAM_GOVERNED(
      "TOL-300",
      "an MCP server is no package of a publisher, so it is not submitted",
      "Whoever owns the policy approves what `writ mcp add` pinned: its line under `tools` names"
          + " the digest; spec/tool-governance.md says why."),
  FOLDER_UNFIT(
      "TOL-305",
      "a folder cannot be one that an MCP server writes to",
      "Name a folder of its own by its real path; spec/tool-mcp.md, What it keeps, has the rules."),
  FOLDER_UNWRITABLE(
      "TOL-306",
      "an MCP server could not write to a folder that it is given to write to",
      "Let the user that is named write there, and pass through the folders above. Where Writ runs"
          + " as root, servers run under user ids of their own: run Writ as the folder's owner, or"
          + " let everybody write there (chmod o+rwx FOLDER)."),
  STATE_TAKEN(
      "TOL-307",
      "the state of an MCP server is in use, by one process at a time",
      "End the session that is named, or call again when its call has ended. Where `writ serve`"
          + " runs, the sessions of all agents take turns."),
  STATE_FULL(
      "TOL-308",
      "the state of an MCP server is larger than it may be",
      "Take out of the folder that is named what is not needed; or writ mcp remove NAME, and add it"
          + " again with a larger --state-mb: its state stays.");

  private final Entry entry;

  ToolsError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
