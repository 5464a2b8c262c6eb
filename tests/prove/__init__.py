"""The promises of the product, proved at full size: `make prove`."""
