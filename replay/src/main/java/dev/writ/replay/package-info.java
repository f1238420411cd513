/** Bundles: export, form, verification, and the report page (spec/bundle.md, spec/report.md). */
package dev.writ.replay;
