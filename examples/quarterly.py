"""What does a quarter usually bring, and how much does that vary?

Run it in a microVM:

    cupolactl run examples/quarterly.py --file examples/quarterly_results.csv

The table is as people keep them: thousands set apart by commas in some rows, a
region with spaces around it, and a quarter for which one region never reported.
"""

import math

import matplotlib.pyplot as plt
import pandas as pd

table = pd.read_csv("/mnt/data/quarterly_results.csv", thousands=",")
table["region"] = table["region"].str.strip()

missing = table["operating_profit"].isna().sum()
print(f"{len(table)} rows, {missing} without operating_profit")

deviation = table["operating_profit"].std()
print(f"standard deviation of operating_profit: {deviation:.2f}")

digits = str(math.factorial(100))
print(f"factorial of 100, {len(digits)} digits: {digits}")

quarters = table.pivot(index="quarter", columns="region",
                       values="operating_profit")
axes = (quarters / 1000).plot.bar(stacked=True, figsize=(9, 5), width=0.8)
axes.set_title("Operating profit by quarter and region")
axes.set_xlabel("")
axes.set_ylabel("thousands")
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
axes.axhline(0, color="black", linewidth=0.8)
plt.tight_layout()
plt.savefig("/mnt/data/operating_profit.png", dpi=120)
plt.close()
