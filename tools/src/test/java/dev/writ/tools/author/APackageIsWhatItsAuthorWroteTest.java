package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.tools.Drivers;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.language.PythonScanner;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/** A project becomes one package, in one form; what registration would refuse, lint shows. */
class APackageIsWhatItsAuthorWroteTest {
  private static Drivers drivers;
  private static TestHosts hosts;
  private static Lint lint;
  @TempDir Path home;

  @BeforeAll
  static void scanners() {
    drivers = Drivers.wasmFamily();
    TreeMap<Language, Scanner> scanners = new TreeMap<>();
    scanners.put(Language.NODE, new NodeScanner(drivers.byName().get(JsDriver.NAME)));
    scanners.put(Language.JAVA, new JavaScanner());
    hosts = TestHosts.open();
    scanners.put(Language.PYTHON, new PythonScanner(hosts.host()));
    lint = new Lint(scanners);
  }

  @AfterAll
  static void close() {
    drivers.close();
    hosts.close();
  }

  private Path project(Language language) {
    Path folder = home.resolve("my-tool");
    Templates.make(language, "my-tool", folder);
    return folder;
  }

  private static void write(Path file, String text) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void edit(Path file, String from, String to) {
    try {
      String text = Files.readString(file);
      assertThat(text).contains(from);
      Files.writeString(file, text.replace(from, to));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> codes(Path folder) {
    return lint.check(ToolProject.open(folder)).stream()
        .map(finding -> finding.code().code() + " " + finding.place())
        .toList();
  }

  @ParameterizedTest
  @FieldSource("dev.writ.tools.author.Language#ALL")
  void aNewProjectHasNothingWrong(Language language) {
    Path folder = project(language);
    assertThat(lint.check(ToolProject.open(folder))).isEmpty();
    byte[] bytes = ToolArchive.of(ToolProject.open(folder)).toBytes();
    assertThat(ToolArchive.read(bytes).toBytes()).isEqualTo(bytes);
    assertThat(ToolArchive.read(bytes).project().manifest().files())
        .extracting("path")
        .contains("tool.manifest", "tool.lock")
        .noneMatch(path -> path.toString().startsWith("test/"));
  }

  @Test
  void anExistingFolderIsLeftAlone() {
    Path folder = project(Language.PYTHON);
    assertThatThrownBy(() -> Templates.make(Language.NODE, "my-tool", folder))
        .hasMessageContaining("TOL-209");
    assertThat(folder.resolve("src/tool.py")).exists();
    assertThat(folder.resolve("src/tool.mjs")).doesNotExist();
  }

  /** Lines of code, each with whether it is refused. */
  private static void isRead(Path folder, String in, String ending, String[][] lines) {
    List<String> wanted = new ArrayList<>();
    for (int i = 0; i < lines.length; i++) {
      String file = in + "more" + (char) ('a' + i) + ending;
      write(folder.resolve(file), lines[i][0] + "\n");
      if (lines[i][1].equals("refused")) {
        wanted.add("TOL-211 " + file);
      }
    }
    assertThat(codes(folder).stream().map(code -> code.replaceAll(" line .*", "")).distinct())
        .containsExactlyElementsOf(wanted);
  }

  @Test
  void whatJavaScriptRefersToIsReadByAParser() {
    Path folder = project(Language.NODE);
    isRead(
        folder,
        "src/",
        ".mjs",
        new String[][] {
          {"import fs from 'node:fs';", "used"},
          {"import net from 'node:net';", "refused"},
          {"import { spawn } from 'child_process';", "refused"},
          {"import x from 'left-pad';", "refused"},
          {"import './other.mjs';", "refused"},
          {"export * from './tool.mjs';", "used"},
          {"await import('node:path');", "used"},
          {"await import(String(1));", "refused"},
          {"require(name);", "refused"},
          {"require('net');", "refused"},
          {"eval('1');", "refused"},
          {"new Function('return 1')();", "refused"},
          {"(() => {}).constructor('return process')();", "refused"},
          {"process.binding('fs');", "refused"},
          {"// import net from 'node:net'", "used"},
          {"const text = 'import net from \"node:net\"';", "used"},
        });
    write(folder.resolve("src/more.mjs"), "this is no program;");
    assertThat(codes(folder)).containsExactly("TOL-210 code");
  }

  @Test
  void whatPythonRefersToIsReadByAParser() {
    Path folder = project(Language.PYTHON);
    write(folder.resolve("src/own.py"), "x = 1\n");
    isRead(
        folder,
        "src/",
        ".py",
        new String[][] {
          {"import json, os.path", "used"},
          {"import own", "used"},
          {"from . import own", "used"},
          {"import requests", "refused"},
          {"import socket", "refused"},
          {"import urllib.parse", "used"},
          {"import urllib.request", "refused"},
          {"import subprocess", "refused"},
          {"import os\nos.system('ls')", "refused"},
          {"from os import execv", "refused"},
          {"import importlib", "refused"},
          {"import ctypes", "refused"},
          {"__import__('socket')", "refused"},
          {"eval('1')", "refused"},
          {"().__class__.__base__.__subclasses__()", "refused"},
          {"x = 'import socket'  # import socket", "used"},
        });
    write(folder.resolve("src/more.py"), "this is no program");
    assertThat(codes(folder)).containsExactly("TOL-210 code");
  }

  @ParameterizedTest
  @CsvSource({
    "java.util.List, ''",
    "java.net.URI, TOL-211",
    "java.lang.reflect.Method, TOL-211",
    "sun.misc.Unsafe, TOL-211",
    "jdk.internal.misc.VM, TOL-211",
  })
  void whatJavaRefersToIsReadByAParser(String name, String code) {
    Path folder = project(Language.JAVA);
    write(folder.resolve("src/More.java"), "import " + name + ";\nfinal class More {}\n");
    write(
        folder.resolve("src/Third.java"),
        "final class Third { Object o() { return " + name + ".class; } }\n");
    List<String> codes = codes(folder);
    if (code == null || code.isEmpty()) {
      assertThat(codes).isEmpty();
    } else {
      assertThat(codes)
          .containsExactly(
              code + " src/More.java line 1, column 1", code + " src/Third.java line 1, column 41");
    }
  }

  @Test
  void namesThatNeedNoImportAreFoundToo() {
    Path folder = project(Language.JAVA);
    write(
        folder.resolve("src/More.java"),
        "final class More { void m() throws Exception { Runtime.getRuntime().exec(\"ls\");"
            + " Class.forName(\"x\"); System.exit(1); new ProcessBuilder(); System.out.println(); }"
            + " }");
    assertThat(codes(folder)).hasSize(4).allMatch(found -> found.startsWith("TOL-211"));
  }

  @Test
  void theLockHoldsEachFileOfOthers() {
    Path folder = project(Language.PYTHON);
    write(folder.resolve("vendor/thing/__init__.py"), "x = 1\n");
    assertThat(codes(folder)).containsExactly("TOL-204 vendor/thing/__init__.py");
    Digest digest = Digest.sha256("x = 1\n".getBytes(StandardCharsets.UTF_8));
    edit(
        folder.resolve("tool.lock"),
        "dependencies: []",
        "dependencies:\n  - { name: thing, version: \"1\", origin: pypi, files: {"
            + " \"vendor/thing/__init__.py\": \""
            + digest
            + "\" } }");
    assertThat(codes(folder)).isEmpty();
    write(folder.resolve("vendor/thing/__init__.py"), "x = 2\n");
    assertThat(codes(folder)).containsExactly("TOL-205 vendor/thing/__init__.py");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "format: 1 | format: 2 | TOL-202",
        "spawn: false | spawn: maybe | TOL-201",
        "language: python | language: cobol | TOL-201",
        "network: [] | network: [\"*.example.com:443\"] | TOL-201",
        "network: [] | network: [\"https://example.com\"] | TOL-201",
        "determinism: recorded | determinism: pure | TOL-201",
        "determinism: recorded | color: red | TOL-201",
        "tool: my-tool | tool: [] | TOL-201",
        "runtime: \"3\" | runtime: \">=3\" | TOL-201",
        "runtime: \"3\" | runtime: \"3.x\" | TOL-201",
        "runtime: \"3\" | runtime: \"3.1.2.3\" | TOL-201",
      })
  void aManifestThatCannotBeUsedSaysWhere(String from, String to, String code) {
    Path folder = project(Language.PYTHON);
    edit(folder.resolve("tool.manifest"), from, to);
    assertThatThrownBy(() -> ToolProject.open(folder))
        .hasMessageContaining(code)
        .hasMessageContaining("tool.manifest");
  }

  @ParameterizedTest
  @CsvSource({
    "3, ''",
    "3.11, ''",
    "3.9+, ''",
    "3.13.5, ''",
    "3.99+, TOL-212",
    "2, TOL-212",
    "3.8, TOL-212",
    "4+, TOL-212",
    "2.7+, ''",
    "x, TOL-212"
  })
  void aRuntimeThatIsNotSupportedIsFound(String runtime, String code) {
    Path folder = project(Language.PYTHON);
    edit(folder.resolve("tool.manifest"), "runtime: \"3\"", "runtime: \"" + runtime + "\"");
    assertThat(codes(folder))
        .containsExactlyElementsOf(
            code == null || code.isEmpty() ? List.of() : List.of(code + " tool.manifest"));
  }

  @Test
  void anEntryThatIsNotThereIsFound() {
    Path folder = project(Language.PYTHON);
    edit(folder.resolve("tool.manifest"), "entry: src/tool.py", "entry: src/main.py");
    assertThat(codes(folder)).containsExactly("TOL-203 tool.manifest");
  }
}
