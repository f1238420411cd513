/** The part of YAML that people may write, with the place of every fault. */
package dev.writ.guardian.yaml;
