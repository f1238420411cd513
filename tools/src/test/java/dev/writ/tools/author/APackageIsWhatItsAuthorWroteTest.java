package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Drivers;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.language.PythonScanner;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  private static String read(Path file) {
    try {
      return Files.readString(file);
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
    if (language.equals(Language.DOTNET)) {
      assertThat(codes(folder)).as("until it is built").containsExactly("TOL-203 tool.manifest");
      return;
    }
    assertThat(lint.check(ToolProject.open(folder))).isEmpty();
    byte[] bytes = ToolArchive.of(ToolProject.open(folder)).toBytes();
    assertThat(ToolArchive.read(bytes).toBytes()).isEqualTo(bytes);
    assertThat(ToolArchive.read(bytes).project().manifest().files())
        .extracting("path")
        .contains("tool.manifest", "tool.lock")
        .noneMatch(path -> path.toString().startsWith("test/"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"image", "image/", "Image/PNG", "text/plain; charset=utf-8", "a/b/c", "*/*"})
  void whatIsNoMediaTypeIsRefused(String mediaType) {
    Path folder = project(Language.PYTHON);
    edit(
        folder.resolve("tool.manifest"),
        "    output:\n",
        "    media_type: \"" + mediaType + "\"\n    output:\n");
    assertThatThrownBy(() -> ToolProject.open(folder))
        .hasMessageContaining("TOL-201")
        .hasMessageContaining("is no media type");
  }

  /** Only JSON has a schema; JSON is what an operation gives that says nothing. */
  @Test
  void aMediaTypeStandsInThePlaceOfASchema() {
    Path folder = project(Language.PYTHON);
    Path manifest = folder.resolve("tool.manifest");
    edit(manifest, "    output:\n", "    media_type: image/png\n    output:\n");
    assertThatThrownBy(() -> ToolProject.open(folder))
        .hasMessageContaining("TOL-201")
        .hasMessageContaining("output");
    edit(manifest, "media_type: image/png", "media_type: application/json");
    ToolManifest stated = ToolProject.open(folder).manifest();
    edit(manifest, "    media_type: application/json\n", "");
    assertThat(ToolProject.open(folder).manifest().operations()).isEqualTo(stated.operations());
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

  private static void write(Path file, byte[] bytes) {
    try {
      Files.createDirectories(file.getParent());
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static final List<String> READ_BY_NO_PARSER =
      List.of(
          "src/ghost.pyc",
          "src/ghost.PYO",
          "src/__pycache__/tool.cpython-311.txt",
          "src/n.abi3.so",
          "vendor/lib.so.1.2",
          "src/x.pyd",
          "src/more.pth",
          "sitecustomize.py",
          "src/usercustomize.py",
          "vendor/lib.egg",
          "vendor/lib.zip",
          "vendor/lib.whl",
          "src/addon.node",
          "src/Tool.pmc",
          "node_modules/left-pad/index.js",
          "Ghost.class",
          "vendor/lib.jar",
          "src/m.wasm");

  @ParameterizedTest
  @ValueSource(strings = {"python", "node", "java"})
  void whatNoParserReadsIsRefused(String language) {
    Path folder = project(Language.named(language).orElseThrow());
    READ_BY_NO_PARSER.forEach(path -> write(folder.resolve(path), ""));
    assertThat(codes(folder))
        .containsAll(READ_BY_NO_PARSER.stream().map(path -> "TOL-219 " + path).toList());
  }

  @ParameterizedTest
  @CsvSource({
    "7f454c4602, TOL-219",
    "cafebabe00000041, TOL-219",
    "0061736d01000000, TOL-219",
    "a70d0d0a00000000, TOL-219",
    "2b0e0d0a00000000, TOL-219",
    "89504e470d0a1a0a, ''",
    "610d0a620d0a, ''",
    "504b0304, ''",
  })
  void aCompiledFormIsKnownByItsFirstBytes(String hex, String code) {
    Path folder = project(Language.PYTHON);
    write(folder.resolve("src/table.dat"), HexFormat.of().parseHex(hex));
    assertThat(codes(folder))
        .containsExactlyElementsOf(code.isEmpty() ? List.of() : List.of(code + " src/table.dat"));
  }

  @Test
  void aProgramOfItsOwnIsWhatAProcessToolBrings() {
    Path folder = project(Language.PROCESS);
    write(folder.resolve("bin/tool"), HexFormat.of().parseHex("7f454c46"));
    write(folder.resolve("lib/x.so"), "");
    assertThat(codes(folder)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "# coding: utf-7 | TOL-218",
        "# -*- coding: latin-1 -*- | TOL-218",
        "# vim: set fileencoding=cp1252 : | TOL-218",
        "#!/usr/bin/python3~# coding:rot13 | TOL-218",
        "~# coding: utf-16 | TOL-218",
        "~# coding: utf-80 | TOL-218",
        "# coding: utf-8-sig | TOL-218",
        "# coding: utf-8 | ''",
        "# -*- coding: UTF8 -*- | ''",
        "# coding: utf-8-unix | ''",
        "x = 1~y = 2~# coding: utf-7 | ''",
        "x = '# codings' | ''",
      })
  void whatPythonIsToldOfItsEncodingIsUtf8OrNothing(String head, String code) {
    Path folder = project(Language.PYTHON);
    write(folder.resolve("src/more.py"), head.replace('~', '\n') + "\n");
    assertThat(codes(folder).stream().map(found -> found.substring(0, 19)).toList())
        .containsExactlyElementsOf(code.isEmpty() ? List.of() : List.of("TOL-218 src/more.py"));
  }

  @ParameterizedTest
  @FieldSource("dev.writ.tools.author.Language#ALL")
  void aSourceReadsTheSameForEverybody(Language language) {
    if (language.sources().isEmpty() || language.equals(Language.WASM)) {
      return;
    }
    Path folder = project(language);
    Path entry = folder.resolve(ToolProject.open(folder).source().entry());
    String name = entry.getFileName().toString();
    String ending = name.substring(name.lastIndexOf('.'));
    List<String> wanted = new ArrayList<>();
    for (String unseen :
        List.of("\ufeff", "\u0000", "\u001b", "\u0085", "\u2028", "\u202e", "\u2066", "\u200f")) {
      String more = "more" + (char) ('a' + wanted.size()) + ending;
      String text = (unseen.equals("\ufeff") ? unseen : "") + read(entry) + "#" + unseen;
      write(entry.resolveSibling(more), text);
      wanted.add("TOL-218 src/" + more);
    }
    write(entry.resolveSibling("morex" + ending), new byte[] {'#', (byte) 0xe9, '\n'});
    wanted.add("TOL-218 src/morex" + ending);
    assertThat(codes(folder).stream().map(code -> code.replaceAll(" line .*", "")))
        .containsAll(wanted);
  }

  @Test
  void whatTurnsASourceIntoAnotherIsRefused() {
    Path folder = project(Language.named("perl").orElseThrow());
    for (String line :
        List.of(
            "use encoding 'koi8-r';", "require Filter::Util::Call;", "1; use Filter::Simple;")) {
      write(folder.resolve("src/More.pm"), "package More;\n" + line + "\n1;\n");
      assertThat(codes(folder)).as(line).containsExactly("TOL-218 src/More.pm line 2");
    }
    write(folder.resolve("src/More.pm"), "use utf8; # no use encoding\n1;\n");
    assertThat(codes(folder)).isEmpty();
  }

  @Test
  void theEntryIsASource() {
    Path folder = project(Language.PYTHON);
    edit(folder.resolve("tool.manifest"), "entry: src/tool.py", "entry: src/tool.txt");
    write(folder.resolve("src/tool.txt"), "");
    assertThat(codes(folder)).containsExactly("TOL-220 tool.manifest");
  }

  @Test
  void aJarIsNamedOrRefused() throws IOException {
    Path folder = project(Language.JAVA);
    Path jar = folder.resolve("vendor/lib.jar");
    Files.createDirectories(jar.getParent());
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
    manifest.getMainAttributes().putValue("Automatic-Module-Name", "lib");
    manifest.getMainAttributes().putValue("Implementation-Version", "1");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    Files.write(
        folder.resolve("tool.lock"),
        LockWriter.of(ToolProject.open(folder).files(), List.of(), new ToolLock(List.of()))
            .toBytes());
    assertThat(codes(folder)).containsExactly("TOL-219 vendor/lib.jar");
    edit(folder.resolve("tool.manifest"), "format: 1", "format: 1\ncompiled: [vendor/lib.jar]");
    assertThat(codes(folder)).isEmpty();
    manifest.getMainAttributes().putValue("Class-Path", "../more/");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    assertThat(codes(folder)).contains("TOL-219 vendor/lib.jar");
    edit(folder.resolve("tool.manifest"), "[vendor/lib.jar]", "[src/Tool.java]");
    assertThatThrownBy(() -> ToolProject.open(folder)).hasMessageContaining("TOL-201");
  }

  /** {@code <!--} begins a comment in a script and is an operator in a module. */
  @Test
  void aFileThatNodeTakesInTwoWaysIsReadInBoth() {
    Path folder = project(Language.NODE);
    write(
        folder.resolve("src/more.js"), "var a = 1, b = 1;\na <!--b + `\nrequire('net');\n//` ;\n");
    assertThat(codes(folder)).containsExactly("TOL-211 src/more.js line 3, column 1");
  }

  @Test
  void whatJavaScriptRefersToIsReadByAParser() {
    Path folder = project(Language.NODE);
    write(folder.resolve("src/data.txt"), "require('net')");
    write(folder.resolve("src/data.json"), "{}");
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
          {"import './data.txt';", "refused"},
          {"import x from './data.json' with { type: 'json' };", "used"},
          {"const r = require; r('net');", "refused"},
          {"process.mainModule.require('net');", "refused"},
          {"new WebAssembly.Module(new Uint8Array(8));", "refused"},
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
          {"import sys\nsys.meta_path.clear()", "refused"},
          {"import zipimport", "refused"},
          {"from logging import config", "refused"},
          {"import pickle", "refused"},
          {"code = 1\nprint(code)", "used"},
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
