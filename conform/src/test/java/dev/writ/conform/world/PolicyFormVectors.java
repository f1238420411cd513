package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.Remade;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on policies that no file makes: limits that are not written,
 * names that nothing defines and values that are not allowed, in the sections that decide no effect
 * by themselves. A verifier that judges nothing again has to refuse them, too.
 */
final class PolicyFormVectors {
  private static final String UNDEFINED = "GRD-510";
  private static final String UNWRITTEN = "GRD-511";

  /** The first verifier's code, and that of a verifier for which it is no document of its kind. */
  private static final String VALUE = "GRD-505 or EXE-950";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    PolicyFormVectors vectors = new PolicyFormVectors();
    vectors.limits();
    vectors.names();
    vectors.values();
    return vectors.made;
  }

  private void add(String name, String about, String wanted, UnaryOperator<JsonValue.Obj> change) {
    Remade remade = ShortRuns.remade(ShortRuns.EVERY_SECTION.get());
    remade.change(body(remade, EventKind.POLICY_ACTIVATED), change);
    made.add(
        Made.bundle(
            "policy-" + name,
            "a policy in force, which " + about,
            wanted,
            Made.inline(remade.toBytes())));
  }

  private static JsonValue read(String json) {
    return Plot.json("{\"v\":" + json.replace('\'', '"') + "}").get("v");
  }

  /** Another value at a place, of members alone. */
  private static UnaryOperator<JsonValue.Obj> at(String place, String json) {
    int slash = place.indexOf('/');
    return slash < 0
        ? set(place, read(json))
        : in(place.substring(0, slash), at(place.substring(slash + 1), json));
  }

  private static JsonValue.Obj withoutMemory(JsonValue.Obj execute) {
    String json = new String(Jcs.write(execute), StandardCharsets.UTF_8);
    return Plot.json(json.replace("128Mi", "0Mi"));
  }

  private void limits() {
    String calls =
        "{'limit':100,'match':{'tool':'calc'},'name':'calls','scope':'subject','unit':'calls',"
            + "'window_s':86400}";
    add(
        "uncounted",
        "counts calls of one tool of several",
        UNWRITTEN,
        at("budgets", "[" + calls + "]"));
    String all = calls.replace("'tool':'calc'", "");
    String cost = all.replace("calls", "cost");
    add(
        "unpriced",
        "counts the cost of tools that have none",
        UNWRITTEN,
        at("budgets", "[" + all + "," + cost + "]"));
    add(
        "takes-a-mandates-account",
        "has a budget with the name of mandates' account",
        VALUE,
        at(
            "budgets",
            "[" + all + "," + all.replace("'name':'calls'", "'name':'mandate/uses'") + "]"));
  }

  private void names() {
    add(
        "stranger-in-commands",
        "gives commands to a role that nothing defines",
        UNDEFINED,
        at(
            "commands/roles",
            "{'stranger':{'commands':['echo'],'environment':[],'limits':{'cpu':2,'mem_mb':512,"
                + "'timeout_sec':60}}}"));
    add(
        "gone-tool-in-commands",
        "runs commands by a tool that is not listed",
        UNDEFINED,
        at("commands/effect/version", "'2.0.0'"));
    add(
        "stranger-in-execute",
        "has an id of somebody who is no principal",
        UNDEFINED,
        at(
            "execute/tenants",
            "[{'ceiling':'default','id':'44444444-4444-4444-8444-444444444444','subjects':"
                + "[{'id':'55555555-5555-4555-8555-555555555555','subject':'stranger'}],"
                + "'tenant':'acme','workspaces':[]}]"));
    add(
        "nobodys-role-in-execute",
        "has a privileged sandbox approved by a role that nobody holds",
        UNDEFINED,
        at("execute/privileged", "{'count':1,'role':'nobodys'}"));
    add(
        "gone-tool-in-engine",
        "switches a tool off that is not listed",
        UNDEFINED,
        at("engine/flags", "[{'enabled':false,'match':{'tool':'gone'}}]"));
    add(
        "stranger-in-engine",
        "has a quota of a tenant without principals",
        UNDEFINED,
        at("engine/quotas/tenants", "[{'running':1,'tenant':'nowhere','weight':1}]"));
    add(
        "gone-tool-in-secrets",
        "hands a secret to a tool that is not listed",
        UNDEFINED,
        at("secrets", "[{'match':{'tenant':'acme','tool':'gone'},'name':'token'}]"));
    add(
        "stranger-in-storage",
        "lets a role put that nothing defines",
        UNDEFINED,
        at("storage/put_by", "['stranger']"));
  }

  private void values() {
    add(
        "climbing-path",
        "gives a role a folder outside of the workspace",
        VALUE,
        at("roles/worker/paths", "['data/../..']"));
    add(
        "place-without-port",
        "gives a role a place without a port",
        VALUE,
        at("roles/worker/network", "['api.example.org']"));
    add(
        "program-with-a-folder",
        "gives a role a program by its path",
        VALUE,
        at("roles/worker/commands", "['bin/sh']"));
    add(
        "late-offset",
        "has hours further from UTC than any place",
        VALUE,
        at(
            "temporal/hours",
            "[{'days':['mon'],'from':'08:00','match':{},'offset':'+18:01','to':'09:00'}]"));
    add("waives-all", "waives what cannot be waived", VALUE, at("sandbox/waived", "['seccomp']"));
    add(
        "secret-as-a-path",
        "names a secret by a path",
        VALUE,
        at("secrets", "[{'match':{'tenant':'acme','tool':'mail'},'name':'../token'}]"));
    add(
        "template-of-nothing",
        "takes from a request what requests do not have",
        VALUE,
        at("commands/effect/params", "{'n':['$nothing']}"));
    add(
        "amount-of-nothing",
        "has an intent without memory",
        VALUE,
        in("execute", PolicyFormVectors::withoutMemory));
    add(
        "classes-upside-down",
        "has a class medium with less than small",
        VALUE,
        at("engine/classes/medium/wall_ms", "1"));
    add(
        "short-lived-uploads",
        "removes uploads before a request can name them",
        VALUE,
        at("storage/unnamed_s", "59"));
    add(
        "secret-for-anybody",
        "hands a secret to any tool",
        VALUE,
        at("secrets", "[{'match':{'tenant':'acme'},'name':'token'}]"));
    add(
        "class-of-no-ceiling",
        "has a ceiling of a class that there is not",
        VALUE,
        at("governance/ceiling/resource_class", "'huge'"));
    add(
        "library-twice",
        "names a library twice",
        VALUE,
        at(
            "governance/libraries",
            "["
                + "{'digest':'sha256:"
                + "0".repeat(64)
                + "','name':'m','version':'1'},"
                + "{'digest':'sha256:"
                + "0".repeat(64)
                + "','name':'m','version':'1'}]"));
  }
}
