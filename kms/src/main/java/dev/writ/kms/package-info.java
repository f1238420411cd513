/** Keys of AWS KMS, which sign over the network (spec/keys.md, "Keys in a cloud's KMS"). */
package dev.writ.kms;
