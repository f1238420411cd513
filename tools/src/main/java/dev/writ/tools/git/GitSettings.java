package dev.writ.tools.git;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The settings of git in every call, which override a repository's own: the environment, and
 * configuration that takes precedence over all files (git-config(1), GIT_CONFIG_COUNT).
 * spec/tool-git.md has the table.
 */
final class GitSettings {
  private static final SortedMap<String, String> ENVIRONMENT = environment();
  private static final SortedMap<String, String> CONFIG = config();

  private GitSettings() {}

  private static SortedMap<String, String> environment() {
    TreeMap<String, String> all = new TreeMap<>();
    all.put("GIT_ALLOW_PROTOCOL", "http"); // over every protocol.*.allow
    all.put("GIT_ATTR_NOSYSTEM", "1");
    all.put("GIT_CONFIG_GLOBAL", "/dev/null");
    all.put("GIT_CONFIG_NOSYSTEM", "1");
    all.put("GIT_EDITOR", ":");
    all.put("GIT_LITERAL_PATHSPECS", "1");
    all.put("GIT_NO_REPLACE_OBJECTS", "1");
    all.put("GIT_OPTIONAL_LOCKS", "0");
    all.put("GIT_PAGER", "cat");
    all.put("GIT_PROTOCOL_FROM_USER", "0");
    all.put("GIT_TERMINAL_PROMPT", "0");
    all.put("LC_ALL", "C.UTF-8");
    return Collections.unmodifiableSortedMap(all);
  }

  private static SortedMap<String, String> config() {
    TreeMap<String, String> all = new TreeMap<>();
    all.put("checkout.defaultRemote", "origin");
    all.put("checkout.workers", "1");
    all.put("color.ui", "false");
    all.put("commit.gpgSign", "false");
    all.put("core.askPass", "");
    all.put("core.attributesFile", "/dev/null");
    all.put("core.excludesFile", "/dev/null");
    all.put("core.fsmonitor", "false");
    all.put("core.hooksPath", "/dev/null");
    all.put("core.pager", "cat");
    all.put("core.protectHFS", "true");
    all.put("core.protectNTFS", "true");
    all.put("core.quotePath", "false");
    all.put("core.sshCommand", "/dev/null");
    all.put("core.untrackedCache", "false");
    all.put("credential.helper", "");
    all.put("diff.ignoreSubmodules", "all");
    all.put("fetch.fsck.badTimezone", "ignore"); // harmless in old commits: spec/tool-git.md
    all.put("fetch.fsck.missingSpaceBeforeDate", "ignore");
    all.put("fetch.fsck.zeroPaddedFilemode", "ignore");
    all.put("fetch.fsckObjects", "true");
    all.put("fetch.recurseSubmodules", "false");
    all.put("gc.auto", "0");
    all.put("gpg.program", "/dev/null");
    all.put("http.followRedirects", "false");
    all.put("http.saveCookies", "false");
    all.put("i18n.logOutputEncoding", "UTF-8");
    all.put("index.threads", "1");
    all.put("init.defaultBranch", "main");
    all.put("init.templateDir", "");
    all.put("log.mailmap", "false");
    all.put("log.showSignature", "false");
    all.put("maintenance.auto", "false");
    all.put("pack.threads", "1");
    all.put("protocol.allow", "never");
    all.put("protocol.http.allow", "always");
    all.put("protocol.version", "2");
    all.put("push.gpgSign", "false");
    all.put("push.recurseSubmodules", "no");
    all.put("safe.bareRepository", "explicit");
    all.put("safe.directory", "*");
    all.put("submodule.recurse", "false");
    all.put("tag.gpgSign", "false");
    all.put("transfer.bundleURI", "false");
    all.put("transfer.fsckObjects", "true");
    all.put("user.useConfigOnly", "true");
    return Collections.unmodifiableSortedMap(all);
  }

  static SortedMap<String, String> configTable() {
    return CONFIG;
  }

  static SortedMap<String, String> environmentTable() {
    return ENVIRONMENT;
  }

  /** The environment of one call, with additional configuration. */
  static SortedMap<String, String> environment(SortedMap<String, String> more) {
    TreeMap<String, String> all = new TreeMap<>(ENVIRONMENT);
    TreeMap<String, String> config = new TreeMap<>(CONFIG);
    config.putAll(more);
    int n = 0;
    for (var entry : config.entrySet()) {
      all.put("GIT_CONFIG_KEY_" + n, entry.getKey());
      all.put("GIT_CONFIG_VALUE_" + n, entry.getValue());
      n++;
    }
    all.put("GIT_CONFIG_COUNT", Integer.toString(n));
    return all;
  }

  /** The digest of all settings, which is part of the snapshot. */
  static Digest digest() {
    var json = JsonValue.object();
    var environment = JsonValue.object();
    ENVIRONMENT.forEach(environment::put);
    var config = JsonValue.object();
    CONFIG.forEach(config::put);
    return Jcs.digest(
        json.put("config", config.build()).put("environment", environment.build()).build());
  }
}
