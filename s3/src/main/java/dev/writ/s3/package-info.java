/** Large contents and the anchor of a ledger in an S3-compatible store (spec/storage-s3.md). */
package dev.writ.s3;
