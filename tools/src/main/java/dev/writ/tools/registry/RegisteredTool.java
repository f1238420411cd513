package dev.writ.tools.registry;

import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;

/**
 * A tool that can be prepared.
 *
 * @param content its package's files, each verified by digest whenever it is read
 * @param builtin whether it is part of the release
 */
public record RegisteredTool(
    ToolManifest manifest, Driver.PackageContent content, boolean builtin) {}
