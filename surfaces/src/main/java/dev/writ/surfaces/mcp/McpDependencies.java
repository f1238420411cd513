package dev.writ.surfaces.mcp;

import dev.writ.executor.Kernel;
import dev.writ.gateway.v1.RunBundle;

/**
 * The parts that the protocol uses.
 *
 * @param version this program's version, for clients
 */
public record McpDependencies(
    Kernel kernel,
    McpTools tools,
    RunBundle bundles,
    EffectSubmitter asker,
    McpSettings settings,
    String version) {}
