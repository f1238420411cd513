package dev.writ.deploy;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The scripts of a release on a copy of what they read, with a launcher in place of a whole runtime
 * image: {@code ./check release} takes minutes, this seconds.
 */
class WhatIsInstalledIsKnownTest {
  private static final Path TOP = Project.deploy().getParent();

  @TempDir Path copy;

  @BeforeEach
  void sources() throws Exception {
    for (String path :
        List.of(
            "deploy/release",
            "pom.xml",
            "LICENSE",
            "verify/src/main/resources/dev/writ/verify/bundle/verify.mjs")) {
      Files.createDirectories(copy.resolve(path).getParent());
      run("cp", "-r", TOP.resolve(path).toString(), copy.resolve(path).toString());
    }
    Files.createDirectories(copy.resolve("target/release"));
  }

  private String run(String... command) throws Exception {
    Path out = Files.createTempFile("writ", ".out");
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(copy.toFile())
              .redirectErrorStream(true)
              .redirectOutput(out.toFile())
              .start();
      assertThat(process.waitFor(5, MINUTES)).as(String.join(" ", command)).isTrue();
      assertThat(process.exitValue()).as(Files.readString(out)).isZero();
      return Files.readString(out);
    } finally {
      Files.delete(out);
    }
  }

  private static String version() throws IOException {
    Matcher version =
        Pattern.compile("<artifactId>writ</artifactId>\\s*<version>(.*)</version>")
            .matcher(Files.readString(TOP.resolve("pom.xml")));
    assertThat(version.find()).isTrue();
    return version.group(1);
  }

  @Test
  void the_debian_package_has_these_files() throws Exception {
    String name = "writ-" + version();
    Path image = Files.createDirectories(copy.resolve("image").resolve(name));
    Files.createDirectories(image.resolve("bin"));
    Files.createDirectories(image.resolve("share/doc"));
    Files.writeString(image.resolve("share/doc/CHANGELOG.md"), "changes\n");
    Path launcher =
        Files.writeString(
            image.resolve("bin/writ"),
            "#!/bin/sh\n"
                + "[ \"$1\" != init ] || { mkdir \"$WRIT_HOME\" && echo 'version: 1'"
                + " >\"$WRIT_HOME/policy.yaml\"; }\n"
                + "[ \"$1\" != man ] || echo page >\"$2/writ.1\"\n"
                + "[ \"$1\" != completion ] || echo \"$2\"\n");
    run("chmod", "755", launcher.toString());
    run(
        "tar",
        "-C",
        copy.resolve("image").toString(),
        "-czf",
        copy.resolve("target/release/" + name + "-linux-x64.tar.gz").toString(),
        name);
    run(copy.resolve("deploy/release/make-deb").toString());

    Path deb = copy.resolve("target/release/writ_" + version() + "_amd64.deb");
    String listed = run("dpkg-deb", "--contents", deb.toString());
    assertThat(listed.lines()).allMatch(line -> line.contains(" root/root "));
    assertThat(
            listed
                .lines()
                .filter(line -> !line.endsWith("/"))
                .map(line -> line.replaceFirst(".*? \\./", "/")))
        .containsExactlyInAnyOrder(
            "/lib/systemd/system/writ-on-demand.service",
            "/lib/systemd/system/writ-on-demand.socket",
            "/lib/systemd/system/writ.service",
            "/usr/bin/writ -> ../lib/writ/bin/writ",
            "/usr/lib/sysusers.d/writ.conf",
            "/usr/lib/writ/bin/writ",
            "/usr/lib/writ/prepared -> /var/cache/writ",
            "/usr/share/bash-completion/completions/writ",
            "/usr/share/doc/writ/changelog.gz",
            "/usr/share/doc/writ/copyright",
            "/usr/share/fish/vendor_completions.d/writ.fish",
            "/usr/share/man/man1/writ.1.gz",
            "/usr/share/writ/policy.yaml",
            "/usr/share/zsh/vendor-completions/_writ");
    assertThat(
            run(
                "sh",
                "-c",
                "dpkg-deb --fsys-tarfile " + deb + " | tar -xO ./usr/share/writ/policy.yaml"))
        .startsWith("version: 1\n")
        .contains("\nsandbox: { waived: [");
    assertThat(run("dpkg-deb", "--field", deb.toString()))
        .contains("Package: writ\n", "Version: " + version() + "\n")
        .doesNotContain("@VERSION", "@SIZE");
  }

  /** A systemctl under which these units run, and what it was asked for. */
  private Path systemd(String... active) throws IOException {
    Files.createDirectories(copy.resolve("root/run/systemd/system"));
    Path bin = Files.createDirectories(copy.resolve("bin"));
    Path fake =
        Files.writeString(
            bin.resolve("systemctl"),
            "#!/bin/sh\n[ \"$1\" != show ] || { case ' "
                + String.join(" ", active)
                + " ' in *\" $4 \"*) echo active ;; *) echo inactive ;; esac; exit; }\n"
                + "echo \"$@\" >>"
                + copy.resolve("asked")
                + "\n");
    assertThat(fake.toFile().setExecutable(true)).isTrue();
    return bin;
  }

  private List<String> asked(Path bin, String script, String... arguments) throws Exception {
    Files.writeString(copy.resolve("asked"), "");
    run(
        "env",
        "PATH=" + bin + ":/usr/bin:/bin",
        "DPKG_ROOT=" + copy.resolve("root"),
        "sh",
        "-c",
        "exec sh " + copy.resolve("deploy/release/debian").resolve(script) + " \"$@\"",
        script,
        arguments[0],
        arguments[1]);
    return Files.readAllLines(copy.resolve("asked"));
  }

  @Test
  void an_upgrade_stops_what_runs_before_files_are_exchanged() throws Exception {
    Path bin = systemd("writ-on-demand.socket", "writ-on-demand.service", "writ.service");
    assertThat(asked(bin, "preinst", "upgrade", "0.0.9"))
        .containsExactly(
            "stop writ-on-demand.socket", "stop writ-on-demand.service", "stop writ.service");
    // What failed on the way leaves the former version, which goes on.
    assertThat(asked(bin, "postrm", "abort-upgrade", "0.0.9"))
        .containsExactly("daemon-reload", "start writ-on-demand.socket writ.service");
    assertThat(asked(bin, "postrm", "abort-upgrade", "0.0.9")).containsExactly("daemon-reload");
  }

  @Test
  void what_did_not_run_is_not_started_by_an_upgrade() throws Exception {
    assertThat(asked(systemd(), "preinst", "upgrade", "0.0.9")).isEmpty();
    assertThat(asked(systemd("writ.service"), "preinst", "install", "")).isEmpty();
    assertThat(copy.resolve("root/run/writ-upgraded")).doesNotExist();
  }

  @Test
  void no_home_is_made_where_one_was() throws Exception {
    Path state = Files.createDirectories(copy.resolve("state"));
    String check =
        Files.readAllLines(copy.resolve("deploy/release/systemd/writ.service")).stream()
            .filter(line -> line.startsWith("ExecStartPre=+/bin/sh -c '"))
            .map(line -> line.substring(line.indexOf('\'') + 1, line.lastIndexOf('\'')))
            .map(line -> line.replace("/var/lib", state.toString()))
            .findFirst()
            .orElseThrow();
    run("sh", "-c", check); // the first start of all
    Files.createDirectories(state.resolve("writ/data"));
    Files.createDirectories(state.resolve("misc"));
    Files.writeString(state.resolve("misc/writ-home"), "");
    run("sh", "-c", check);
    Files.delete(state.resolve("writ/data"));
    assertThat(run("sh", "-c", "( " + check + " ); [ $? = 4 ]")).contains("is gone");
  }

  @Test
  void the_package_for_npm_has_the_projects_version_and_a_command() throws Exception {
    run(copy.resolve("deploy/release/make-verifier").toString());
    Path archive = copy.resolve("target/release/writ-verify-" + version() + ".tgz");
    run("tar", "-C", copy.toString(), "-xzf", archive.toString());
    try (Reader text =
        new InputStreamReader(Files.newInputStream(copy.resolve("package/package.json")))) {
      JsonObject described = JsonParser.parseReader(text).getAsJsonObject();
      assertThat(described.get("version").getAsString()).isEqualTo(version());
      Path command =
          copy.resolve("package")
              .resolve(described.getAsJsonObject("bin").get("writ-verify").getAsString());
      assertThat(command).isExecutable();
      assertThat(Files.readString(command))
          .isEqualTo(
              "#!/usr/bin/env node\n"
                  + Files.readString(copy.resolve("target/release/verify.mjs")));
      for (var file : described.getAsJsonArray("files")) {
        assertThat(copy.resolve("package").resolve(file.getAsString())).exists();
      }
    }
  }

  /** What holds the service in, and what must not, since sandboxes are made inside it. */
  @Test
  void the_unit_is_hardened_as_far_as_sandboxes_let_it() throws IOException {
    List<String> unit =
        Files.readAllLines(Project.deploy().resolve("release/systemd/writ.service"));
    assertThat(unit)
        .contains(
            "Type=notify",
            "User=writ",
            "NoNewPrivileges=yes",
            "CapabilityBoundingSet=",
            "ProtectSystem=strict",
            "ProtectHome=yes",
            "PrivateTmp=yes",
            "PrivateDevices=yes",
            "LockPersonality=yes",
            "RestrictSUIDSGID=yes",
            "SystemCallArchitectures=native")
        .noneMatch(line ->
            line.matches(
                "(RestrictNamespaces|ProtectProc|ProcSubset|ProtectKernelTunables|ProtectKernelLogs"
                    + "|ProtectControlGroups|MemoryDenyWriteExecute)=.*"));
    Map<String, String> values =
        unit.stream()
            .filter(line -> line.matches("[A-Za-z]+=.+"))
            .map(line -> line.split("=", 2))
            .collect(java.util.stream.Collectors.toMap(p -> p[0], p -> p[1], (a, _) -> a));
    assertThat(values.get("SystemCallFilter")).contains("@system-service", "@mount");
    assertThat(values.get("ExecStart")).isEqualTo("/usr/lib/writ/bin/writ serve");
  }

  /** Its commands name files, which have the version in their names. */
  @Test
  void the_page_is_of_this_version() throws IOException {
    Matcher named =
        Pattern.compile(
                "(?:writ|writ-verify|writ_client|writ-client)[-_]([0-9]+\\.[0-9]+\\.[0-9]+)")
            .matcher(Files.readString(TOP.resolve("spec/install.md")));
    List<String> versions = new ArrayList<>();
    while (named.find()) {
      versions.add(named.group(1));
    }
    assertThat(versions).hasSizeGreaterThan(10).containsOnly(version());
  }

  @Test
  void each_part_has_its_script_and_each_script_is_a_part() throws IOException {
    Path folder = Project.deploy().resolve("release");
    Matcher parts =
        Pattern.compile("parts=\\$\\{\\*:-(.*)}").matcher(Files.readString(folder.resolve("make")));
    assertThat(parts.find()).isTrue();
    List<String> scripts = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.startsWith("make-"))
          .forEach(file -> scripts.add(file.substring("make-".length())));
    }
    assertThat(parts.group(1).split(" ")).containsExactlyInAnyOrderElementsOf(scripts);
  }
}
